import { fastify } from "fastify";
import { expect, test } from "vitest";
import { authorizeRequests } from "../../../../server/http/auth/authorization.ts";
import { startRequestContext } from "../../../../server/http/request-context.ts";

function guardedApp() {
  const app = fastify();
  startRequestContext(app);
  authorizeRequests(app);
  return app;
}

test("a route without key header or permissions stops the start of the server", () => {
  const handler = () => ({});
  for (const config of [undefined, { header: "x-api-key" as const }, { permissions: ["clinic.lab.view" as const] }]) {
    expect(() => guardedApp().route({ method: "GET", url: "/open", handler, ...(config && { config }) })).toThrow(
      "route /open: expected a key header and permissions in its config",
    );
  }
});

test("a route with empty permissions is closed to every key", async () => {
  const app = guardedApp();
  app.route({ method: "GET", url: "/closed", config: { header: "x-api-key", permissions: [] }, handler: () => ({}) });
  expect((await app.inject("/closed")).statusCode).not.toBe(200);
});
