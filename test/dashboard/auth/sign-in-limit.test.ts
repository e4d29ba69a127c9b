import { expect, test } from "vitest";
import { createSignInLimit } from "../../../server/dashboard/auth/sign-in-limit.ts";
import type { ApiError } from "../../../server/http/errors.ts";
import { memoryCounters } from "../../../server/http/rate-limit/memory-counters.ts";
import { startServer } from "../../server/harness.ts";

/** Counts the attempts until the limit refuses one. */
async function admitted(attempt: (index: number) => { name: string; address: string }): Promise<number> {
  const { store, pepper } = await startServer();
  const limit = createSignInLimit({ store, pepper, counters: memoryCounters(), now: () => 0 });
  for (let index = 0; index < 1000; index += 1) {
    const { name, address } = attempt(index);
    const request = { ip: address, protocol: "http", headers: {} } as const;
    const refusal = await limit(request, name).catch((error: ApiError) => error.code);
    if (refusal === "SESSION.TOO_MANY_ATTEMPTS") return index;
  }
  return 1000;
}

const address = (index: number) => `192.0.${Math.trunc(index / 250)}.${index % 250}`;

test.each([
  ["one name from one address", 10, () => ({ name: "Ayşe", address: "192.0.2.1" })],
  [
    "one name in other letter cases",
    10,
    (index: number) => ({ name: index % 2 ? "AYŞE " : "ayşe", address: "192.0.2.1" }),
  ],
  ["one name from many addresses", 100, (index: number) => ({ name: "Ayşe", address: address(index) })],
  ["many names from one address", 60, (index: number) => ({ name: `user ${index}`, address: "192.0.2.1" })],
  [
    "many names from one IPv6 subscriber",
    60,
    (index: number) => ({ name: `user ${index}`, address: `2001:db8::${index.toString(16)}` }),
  ],
  ["many names from many addresses", 1000, (index: number) => ({ name: `user ${index}`, address: address(index) })],
])("%s: %i attempts", async (_what, expected, attempt) => {
  expect(await admitted(attempt)).toBe(expected);
});
