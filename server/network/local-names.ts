import { hostname, networkInterfaces } from "node:os";
import { addressFinder } from "../../shared/network/network-address.ts";

// Names and addresses that have a meaning in the clinic's network alone, and those of this machine.

/** Networks whose addresses do not exist in the internet (RFC 1918, RFC 3927, RFC 4193, RFC 4291, RFC 6598). */
export const localNetworks = [
  ...["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10"],
  ...["::1/128", "fc00::/7", "fe80::/10"],
] as const;

/** Whether an address has a meaning in the local network alone. */
export const isLocalAddress = addressFinder(localNetworks);

/** Where other machines of the network find this one. */
export interface OwnNames {
  /** The machine's own name, as DNS knows it: first without a domain. */
  readonly names: readonly string[];
  /** Addresses, the likeliest for other machines first. Those of IPv6 that only a link knows are left out. */
  readonly addresses: readonly string[];
}

/** Names with other letters are not in DNS, and no browser accepts a certificate with one. */
const HOST_NAME = /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/;

/** Adapters of virtual machines, containers and tunnels, whose addresses the clinic's network does not know. */
const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vboxnet|vEthernet|VMware|VirtualBox|tun|tap|utun|wg|tailscale|zt)/i;

/** IPv4 before IPv6, and last what works on this machine alone: 169.254 is an adapter that got no address. */
function rankOf({ adapter, address, family }: { adapter: string; address: string; family: string }): number {
  const isUnlikely = VIRTUAL.test(adapter) || address.startsWith("169.254.");
  return (isUnlikely ? 2 : 0) + (family === "IPv4" ? 0 : 1);
}

export function ownNames(): OwnNames {
  const full = hostname().toLowerCase();
  const [host = ""] = full.split(".");
  const addresses = Object.entries(networkInterfaces())
    .flatMap(([adapter, each = []]) =>
      each.map(({ internal, address, family }) => ({ adapter, internal, address, family })),
    )
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"))
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map(({ address }) => address);
  const names = [...new Set([host, `${host}.local`, full])].filter((name) => HOST_NAME.test(name));
  return { names, addresses };
}
