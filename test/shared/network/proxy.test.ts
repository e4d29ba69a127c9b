import { expect, test } from "vitest";
import { environmentProxies, proxyFor } from "../../../shared/network/proxy.ts";

const env = { HTTP_PROXY: "http://user:secret@proxy.local:3128", https_proxy: "proxy.local:3129" };
const named = (url: string, variables: NodeJS.ProcessEnv) =>
  proxyFor(new URL(url), environmentProxies(variables))?.name ?? null;
const on = (url: string, no = "") => named(url, { ...env, NO_PROXY: no });

test("a URL goes through the proxy of its scheme, which is named without its password", () => {
  expect([on("http://cloud.example"), on("https://cloud.example")]).toEqual(["proxy.local:3128", "proxy.local:3129"]);
  expect(named("https://cloud.example", { HTTP_PROXY: env.HTTP_PROXY })).toBe(null);
  expect(named("http://cloud.example", {})).toBe(null);
});

test("a variable in lower case precedes upper case, and an empty one counts as unset", () => {
  const both = { http_proxy: "http://lower.example:1", HTTP_PROXY: "http://upper.example:1" };
  expect(named("http://cloud.example", both)).toBe("lower.example:1");
  expect(named("http://cloud.example", { ...both, http_proxy: "" })).toBe("upper.example:1");
  expect(named("http://cloud.example", { ...both, no_proxy: "", NO_PROXY: "*" })).toBe(null);
});

test.each([
  "http://0.0.0.0:8080",
  "http://[::ffff:127.0.0.1]:8080",
  "http://localhost:8080",
  "http://agent.localhost",
  "http://127.9.9.9:8081",
  "http://[::1]:8080",
])("%s is this machine, which no proxy reaches", (url) => {
  expect(on(url)).toBe(null);
});

test.each([
  ["http://cloud.example", "*"],
  ["http://cloud.example", "other.example,CLOUD.example"],
  ["http://cloud.example.", "other.example cloud.example"],
  ["http://cloud.example:8080", "cloud.example:8080"],
  ["http://cloud.example", "cloud.example:80"],
  ["https://cloud.example", ".example:443"],
  ["http://a.cloud.example", "cloud.example"],
  ["http://a.cloud.example", ".cloud.example"],
  ["http://a.cloud.example", "*.cloud.example"],
  ["http://10.1.2.3", "10.1.2.3"],
  ["http://10.1.2.3:8080", "10.1.2.3:8080"],
  ["http://10.1.2.3", "10.0.0.0/8"],
  ["http://[fd00::5]:8080", "fd00::5"],
  ["http://[fd00::5]:8080", "[fd00:0::5]:8080"],
  ["http://[fd00::5]:8080", "fd00::/8"],
])("%s is direct with NO_PROXY %s", (url, no) => {
  expect(on(url, no)).toBe(null);
});

test.each([
  ["http://cloud.example:8080", "cloud.example:81"],
  ["http://notcloud.example", ".cloud.example"],
  ["http://notcloud.example", "cloud.example"],
  ["http://cloud.example", "a.cloud.example"],
  ["http://10.1.2.3", "1.2.3"],
  ["http://10.1.2.3", "10.1.2.30"],
  ["http://10.1.2.3", "11.0.0.0/8"],
  ["http://10.1.2.3", "10.0.0.0/99, /8, 10.0.0.0/x"],
  ["http://cloud.example", " , ;. *."],
])("%s goes through the proxy with NO_PROXY %s", (url, no) => {
  expect(on(url, no)).toBe("proxy.local:3128");
});

test.each([
  ["socks5://user:secret@proxy.local:1080", "HTTP_PROXY names a proxy of socks5://, expected http:// or https://"],
  ["http://user:secret@:3128", "HTTP_PROXY names no proxy, expected such as http://proxy.example:3128"],
])("%s is refused without its password", (text, reason) => {
  expect(() => named("http://cloud.example", { HTTP_PROXY: text })).toThrow(reason);
});

test.each([
  ["http://vet:s%3Acret@proxy.local", "vet:s:cret"],
  ["http://vet:100%@proxy.local", "vet:100%"],
  ["http://vet@proxy.local", "vet:"],
])("the user and the password of %s are those of Proxy-Authorization", (text, pair) => {
  const { authorization } = proxyFor(new URL("http://cloud.example"), environmentProxies({ HTTP_PROXY: text })) ?? {};
  expect(authorization).toBe(`Basic ${Buffer.from(pair).toString("base64")}`);
});
