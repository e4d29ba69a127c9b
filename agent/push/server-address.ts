import { PairingError } from "./faults.ts";

/** Reads a server's address as people copy it: also the address of a dashboard page. @throws PairingError */
export function readServerUrl(text: string): string {
  const address = text.trim();
  const isUrl = /^https?:\/\//i.test(address) && URL.canParse(address);
  if (!isUrl) {
    const expected =
      "expected the address of the dashboard with http:// or https://, such as https://vetwire.example.com";
    throw new PairingError("server", `the server's address is "${address.slice(0, 200)}", ${expected}`);
  }
  const { origin, pathname } = new URL(address);
  // A server behind a proxy may live below a path.
  return origin + pathname.replace(/\/dashboard(\/.*)?$/, "").replace(/\/+$/, "");
}
