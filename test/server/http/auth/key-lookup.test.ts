import { expect, test } from "vitest";
import { isWellFormedKey } from "../../../../shared/runtime/api-key.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, onPostgres, startServer } from "../../harness.ts";

const ours = newFp("clinic");

test("a key with a wrong checksum is refused without a database query", async () => {
  const server = await startServer(clinic(ours));
  const key = await server.makeKey(ours, ["clinic.patient.view"]);
  expect(isWellFormedKey(key)).toBe(true);
  for (let index = "sk_live_".length; index < key.length; index += 1) {
    const typo = key.slice(0, index) + (key[index] === "a" ? "b" : "a") + key.slice(index + 1);
    expect(isWellFormedKey(typo)).toBe(false);
  }
  // On PostgreSQL the database counts requests without a key.
  if (onPostgres()) return;
  await server.store.close();
  expect((await server.get(key.replace(/.$/, "?"), "/api/v1/patients")).status).toBe(401);
  expect((await server.get(key, "/api/v1/patients")).status).toBe(500);
});
