import { expect, test } from "vitest";
import { addressKind } from "../../../../server/operations/webhooks/network.ts";
import { checkAddresses, readReceiverUrl } from "../../../../server/operations/webhooks/receiver.ts";

test.each([
  ["8.8.8.8", "public"],
  ["172.32.0.1", "public"],
  ["2606:4700::1", "public"],
  ["127.0.0.1", "private"],
  ["127.255.0.9", "private"],
  ["10.1.2.3", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.20", "private"],
  ["100.64.0.1", "private"],
  ["::1", "private"],
  ["fd12::1", "private"],
  ["0.0.0.0", "refused"],
  ["169.254.169.254", "refused"],
  ["224.0.0.251", "refused"],
  ["255.255.255.255", "refused"],
  ["198.18.0.1", "refused"],
  ["::", "refused"],
  ["::ffff:8.8.8.8", "refused"],
  ["::ffff:7f00:1", "refused"],
  ["::7f00:1", "refused"],
  ["64:ff9b::7f00:1", "refused"],
  ["64:ff9b:1::a00:1", "refused"],
  ["2002:7f00:1::", "refused"],
  ["2001:0:1::1", "refused"],
  ["fe80::1", "refused"],
  ["fe80::1%eth0", "refused"],
  ["ff02::1", "refused"],
  ["2001:db8::1", "refused"],
  ["localhost", "refused"],
])("the address %s is %s", (address, kind) => {
  expect(addressKind(address)).toBe(kind);
});

test.each([
  ["https://example.com/hook?a=1", "fine"],
  ["https://example.com:8443/", "fine"],
  ["http://example.com/", "The URL starts with http://"],
  ["ftp://example.com/", "The URL starts with ftp://"],
  ["example.com", "This is not a URL"],
  ["https://user:pass@example.com/", "The URL holds a user name or a password"],
  ["https://example.com/#x", "The URL holds a part after #"],
  ["https://example.com:25/", "The URL has the port 25"],
  ["https://2130706433/", "127.0.0.1 is in a private network"],
  ["https://0x7f.1/", "127.0.0.1 is in a private network"],
  ["https://0177.0.0.1/", "127.0.0.1 is in a private network"],
  ["https://127.1/", "127.0.0.1 is in a private network"],
  ["https://127.0.0.1./", "127.0.0.1 is in a private network"],
  ["https://１２７.0.0.1/", "127.0.0.1 is in a private network"],
  ["https://0251.0376.0251.0376/", "169.254.169.254 has an address which cannot be a receiver"],
  ["file:///etc/passwd", "The URL starts with file://"],
  ["gopher://example.com:6379/_SET", "The URL starts with gopher://"],
  ["javascript:alert(1)", "The URL starts with javascript:"],
  ["https://[::ffff:7f00:1]/", "::ffff:7f00:1 has an address which cannot be a receiver"],
  [`https://example.com/${"a".repeat(2000)}`, "The URL has 2020 characters"],
])("without private receivers %s: %s", (url, problem) => {
  const checked = readReceiverUrl(url, false);
  expect(checked.ok ? "fine" : checked.reason).toContain(problem);
});

test.each([
  ["http://192.168.1.20/hook", "fine"],
  ["http://127.0.0.1:3000/", "fine"],
  ["http://169.254.169.254/latest", "169.254.169.254 has an address which cannot be a receiver"],
  ["http://8.8.8.8/", "8.8.8.8 is at the public address 8.8.8.8: enter a URL that starts with https://"],
  ["http://192.168.1.20:22/", "The URL has the port 22"],
])("with private receivers %s: %s", (url, problem) => {
  const checked = readReceiverUrl(url, true);
  expect(checked.ok ? "fine" : checked.reason).toContain(problem);
});

test("no sentence names the private address of a host", () => {
  const intranet = new URL("https://intranet.example/");
  for (const address of ["10.1.2.3", "fd00::7", "169.254.169.254"]) {
    const checked = checkAddresses(intranet, [{ address, family: address.includes(":") ? 6 : 4 }], false);
    expect(checked).toMatchObject({ ok: false, reason: expect.not.stringContaining(address) as string });
  }
});

test("a name without an address is refused", () => {
  expect(checkAddresses(new URL("https://empty.example/"), [], false)).toEqual({
    ok: false,
    reason: "empty.example has no address: check the name.",
    why: { code: "HOOK.NO_ADDRESS", values: ["empty.example"] },
  });
});
