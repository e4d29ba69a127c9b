import { expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, startServer } from "../../server/harness.ts";
import { makeUser } from "../harness.ts";

const SAME = "SESSION.CROSS_SITE";

test.each([
  [{ "sec-fetch-site": "same-origin" }, true],
  [{ "sec-fetch-site": "none" }, true],
  [{ "sec-fetch-site": "same-origin", origin: "https://evil.example" }, true],
  [{ "sec-fetch-site": "cross-site" }, false],
  [{ "sec-fetch-site": "same-site" }, false],
  [{ "sec-fetch-site": "" }, false],
  [{ "sec-fetch-site": "cross-site", origin: "http://clinic.example:8080" }, false],
  [{ origin: "http://clinic.example:8080" }, true],
  [{ origin: "https://clinic.example:8080" }, true],
  [{ origin: "http://clinic.example" }, false],
  [{ origin: "http://evil.example:8080" }, false],
  [{ origin: "null" }, false],
  [{ origin: "" }, false],
  [{}, true],
])("a write with %j passes: %s", async (sent, passes) => {
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  const { cookie } = await makeUser(server, "reader", fp);
  const headers = { host: "clinic.example:8080", cookie, ...sent };
  const write = await server.app.inject({ method: "POST", url: "/clinic/v1/sign-out", headers, payload: {} });
  expect([write.statusCode, write.body.includes(SAME)]).toEqual(passes ? [200, false] : [403, true]);
});

test("a read from another site gets a response, since no other site can see it", async () => {
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  const { cookie } = await makeUser(server, "reader", fp);
  const headers = { cookie, "sec-fetch-site": "cross-site" };
  const read = await server.app.inject({ url: "/clinic/v1/account", headers });
  expect(read.statusCode).toBe(200);
  expect(read.headers["access-control-allow-origin"]).toBeUndefined();
});
