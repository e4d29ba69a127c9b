import { BlockList, isIPv4, isIPv6 } from "node:net";

// Networks by the special-purpose registries of IANA (RFC 6890). A user enters a receiver's URL, and our machine connects to
// it: without this rule the URL could reach the router, the cloud's metadata or a database.

/**
 * Kind of an address. `private` are this machine, the local network and the provider's network. `refused` is closed to every
 * receiver: link-local with the cloud's metadata, multicast, documentation, and IPv6 forms that carry an IPv4 address.
 */
export type AddressKind = "public" | "private" | "refused";

const private4 = networks("ipv4", "10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16");
const refused4 = networks(
  "ipv4",
  "0.0.0.0/8 169.254.0.0/16 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
);
const private6 = networks("ipv6", "::1/128 fc00::/7");
const public6 = networks("ipv6", "2000::/3");
/** Teredo and other protocols, documentation, 6to4. NAT64 and IPv4-mapped addresses are outside of 2000::/3. */
const refused6 = networks("ipv6", "2001::/23 2001:db8::/32 2002::/16 3fff::/20");

/** @returns the kind of an IPv4 or IPv6 address; `refused` for any other text, and for an address with a zone */
export function addressKind(address: string): AddressKind {
  if (isIPv4(address)) {
    if (refused4.check(address, "ipv4")) return "refused";
    return private4.check(address, "ipv4") ? "private" : "public";
  }
  if (!isIPv6(address) || address.includes("%")) return "refused";
  if (private6.check(address, "ipv6")) return "private";
  return public6.check(address, "ipv6") && !refused6.check(address, "ipv6") ? "public" : "refused";
}

function networks(family: "ipv4" | "ipv6", list: string): BlockList {
  const blocks = new BlockList();
  for (const network of list.split(" ")) {
    const [address = "", bits = ""] = network.split("/");
    blocks.addSubnet(address, Number(bits), family);
  }
  return blocks;
}
