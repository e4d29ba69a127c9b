import type { FastifyRequest } from "fastify";
import { isLocalName, isLoopback } from "../../../../shared/network/network-address.ts";
import { isIP } from "node:net";
import { addressKind } from "../../../operations/webhooks/network.ts";
import type { NetworkControl } from "../../context.ts";
import type { Reach } from "../../types/results/sharing.ts";

/**
 * Returns the start of the addresses that leave the clinic: the one that Settings, Network or the command line names, else the one
 * under which the user opened the dashboard.
 */
export function linkAddress(
  { protocol, host }: Pick<FastifyRequest, "protocol" | "host">,
  network: Pick<NetworkControl, "named"> | null,
): { origin: string; reach: Reach } {
  const { origin, hostname } = new URL(network?.named ?? `${protocol}://${host}`);
  return { origin, reach: reachOf(hostname.replace(/^\[(.*)\]$/, "$1")) };
}

function reachOf(host: string): Reach {
  if (isLoopback(host)) return "this machine";
  const isLocal = isIP(host) === 0 ? isLocalName(host) : addressKind(host) !== "public";
  return isLocal ? "clinic network" : "internet";
}
