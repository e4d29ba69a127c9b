import net from "node:net";

/**
 * Returns the network of an address: an IPv4 address itself, or the /64 of an IPv6 address. One subscriber commonly has a /64
 * (RFC 6177), so requests are counted per /64.
 */
export function networkOf(address: string): string {
  // A proxy may forward text from its client, of any length. All invalid addresses count as one.
  if (net.isIP(address) === 0) return "no address";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!address.includes(":")) return address;
  // Remove the zone of `2001:db8::1%eth0`, and expand `::`.
  const [left = [], right = []] = address.replace(/%.*/, "").split("::").map(groupsOf);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return `${[...left, ...zeros, ...right].slice(0, 4).join(":")}::/64`;
}

/** Whether a text is an address or a range of addresses, such as 127.0.0.1 or 10.0.0.0/8. */
export function isAddressRange(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const version = net.isIP(address);
  const bitsMax = version === 6 ? 128 : 32;
  const isRange = bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= bitsMax);
  return version !== 0 && isRange && rest.length === 0;
}

/** Returns a function that finds addresses in ranges. IPv4 addresses in the form of IPv6 count as IPv4. */
export function addressFinder(ranges: readonly string[]): (address: string) => boolean {
  const list = new net.BlockList();
  for (const range of ranges) {
    const [address = "", bits = net.isIP(range.split("/")[0] ?? "") === 6 ? 128 : 32] = range.split("/");
    list.addSubnet(address, Number(bits), net.isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return (address) => net.isIP(address) !== 0 && list.check(address, net.isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Ends of host names that no public name has (RFC 6762, RFC 8375, ICANN's .internal), and those of common routers. */
export const localSuffixes = ["localhost", "local", "lan", "home", "internal", "home.arpa", "localdomain"] as const;

/** Whether a host name has a meaning in the local network alone. */
export function isLocalName(host: string): boolean {
  return !host.includes(".") || localSuffixes.some((suffix) => host.toLowerCase().endsWith(`.${suffix}`));
}

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

function groupsOf(part: string): string[] {
  return part === "" ? [] : part.split(":");
}
