import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runCheck } from "./check.ts";
import { checkGroups } from "./checks.ts";
import { type Api, ownServer } from "./server.ts";

// Method: the checks run in their order on one server of the build, on SQLite. The checks of the limits wait for windows of a minute,
// so they run with ALL=1 alone, and with them the check that every documented status occurs. Without them,
// test/server/http/rate-limit proves the limits with a clock, and test/server/http/openapi the statuses.

const waiting = process.env["ALL"] === "1" ? [] : ["limits.ts", "contract.ts"];
const groups = checkGroups.filter(({ file }) => !waiting.includes(file));
const checks = groups.flatMap(({ checks: own }) => own.filter((check) => "run" in check));

let server: { readonly api: Api; readonly stop: () => Promise<void> };

beforeAll(async () => {
  vi.stubEnv("VETWIRE_BUILT", "1");
  server = await ownServer();
});

afterAll(async () => {
  await server.stop();
  vi.unstubAllEnvs();
});

test.each(checks)("$title", async (check) => {
  expect(await runCheck(check, server.api)).toEqual({ kind: "passed" });
});

test("every response to these checks matches the API document of the server", () => {
  expect(server.api.breaches).toEqual([]);
});
