import { parseAddress } from "../transport/address.ts";
import { isLoopback } from "../../shared/network/network-address.ts";
import { urlOfDestination } from "./values/destination.ts";
import { type Exposure, exposedSecrets } from "./exposed-secrets.ts";
import type { Config, DeviceConfig } from "./values/schema.ts";

/** Finds each place where a valid configuration lets others read data or send results. */
export function exposures(config: Config): Exposure[] {
  return [...readableTraffic(config), ...config.devices.flatMap(openListeners), ...exposedSecrets(config)];
}

function readableTraffic({ server, destinations }: Pick<Config, "server" | "destinations">): Exposure[] {
  const found: Exposure[] = [];
  const readable = readableServer(server.url);
  if (readable !== null) found.push({ ...readable, fault: `server.url is ${readable.fault}` });
  for (const destination of destinations) {
    const origin = readableOrigin(urlOfDestination(destination) ?? "");
    if (origin === null) continue;
    const fault = `destination ${destination.id} is ${origin}, where the network can read its images`;
    found.push({ fault, remedy: "use https" });
  }
  return found;
}

/** @returns null if others in the network cannot read what this machine sends to a server */
export function readableServer(url: string): Exposure | null {
  const origin = readableOrigin(url);
  if (origin === null) return null;
  return { fault: `${origin}, where the network can read the key and all results`, remedy: "use https" };
}

/** @returns the server without path and user if others in the network can read and change its responses; else null */
export function readableOrigin(url: string): string | null {
  return isReadable(url) ? originOf(url) : null;
}

function isReadable(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLoopback(hostname);
}

/** Returns the URL without its path, user and password. */
function originOf(url: string): string {
  return new URL(url).origin;
}

/** A listener with `tls.ca` is closed too: it takes results only from devices with a certificate of that authority. */
export function openListeners({ id, connection, allow = [], tls }: DeviceConfig): Exposure[] {
  if (allow.length > 0 || tls?.ca !== undefined) return [];
  const listeners = [connection.listen, connection.replyConnection?.listen].filter((listen) => listen !== undefined);
  return listeners
    .filter((listen) => !isLoopback(parseAddress(listen)?.host ?? ""))
    .map((listen) => ({
      fault: `device ${id} listens on ${listen} without allow, so any host can send results`,
      remedy: "list the device's address in allow",
    }));
}
