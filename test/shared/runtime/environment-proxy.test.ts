import { expect, test } from "vitest";
import { proxyFor } from "../../../shared/runtime/environment-proxy.ts";

const env = { HTTP_PROXY: "http://user:secret@proxy.local:3128", https_proxy: "http://proxy.local:3129" };
const on = (url: string, no = "") => proxyFor(new URL(url), { ...env, NO_PROXY: no });

test("a URL goes through the proxy of its scheme, which is named without its password", () => {
  expect([on("http://cloud.example"), on("https://cloud.example")]).toEqual(["proxy.local:3128", "proxy.local:3129"]);
  expect(proxyFor(new URL("https://cloud.example"), { HTTP_PROXY: env.HTTP_PROXY })).toBe(null);
  expect(proxyFor(new URL("http://cloud.example"), {})).toBe(null);
});

test.each([
  ["http://127.0.0.1:8080", "localhost, 127.0.0.1"],
  ["http://cloud.example:8080", "cloud.example:8080"],
  ["http://a.cloud.example", ".cloud.example"],
  ["http://a.cloud.example", "*.cloud.example"],
  ["http://cloud.example", "*"],
])("%s is direct with NO_PROXY %s", (url, no) => {
  expect(on(url, no)).toBe(null);
});

test.each([
  ["http://cloud.example:8080", "cloud.example:81"],
  ["http://notcloud.example", ".cloud.example"],
  ["http://a.cloud.example", "cloud.example"],
])("%s goes through the proxy with NO_PROXY %s", (url, no) => {
  expect(on(url, no)).toBe("proxy.local:3128");
});
