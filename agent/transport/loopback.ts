import net from "node:net";

const LOOPBACK = new net.BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/**
 * Returns true if packets to the host stay on this machine. `host` is `localhost` or an address, IPv6 with or without brackets.
 * Any other name counts as another machine, because a name server resolves it.
 */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  const version = net.isIP(address);
  if (version === 0) return address.toLowerCase() === "localhost";
  return LOOPBACK.check(address, version === 4 ? "ipv4" : "ipv6");
}
