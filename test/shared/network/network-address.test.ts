import { expect, test } from "vitest";
import { networkOf } from "../../../shared/network/network-address.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:192.0.2.1", "192.0.2.1"],
  ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:db8::1%eth0", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["", "no address"],
  ["192.0.2.1, 198.51.100.1", "no address"],
  ["x".repeat(1000), "no address"],
])("%s belongs to the network %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
