import { isIP } from "node:net";

/**
 * Returns the network of an address: an IPv4 address itself, or the /64 of an IPv6 address. One subscriber commonly has a
 * whole /64 (RFC 6177), so requests are counted per /64.
 */
export function networkOf(address: string): string {
  // A proxy may forward text from its client, of any length. All invalid addresses count as one.
  if (isIP(address) === 0) return "no address";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!address.includes(":")) return address;
  // Remove the zone of `2001:db8::1%eth0`, and expand `::`.
  const [left = [], right = []] = address.replace(/%.*/, "").split("::").map(groupsOf);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return `${[...left, ...zeros, ...right].slice(0, 4).join(":")}::/64`;
}

/** Whether a host name or address is this machine's own, so that nobody else hears what is sent to it. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

function groupsOf(part: string): string[] {
  return part === "" ? [] : part.split(":");
}
