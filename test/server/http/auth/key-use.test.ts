import { expect, test } from "vitest";
import { listKeys } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connectTo, heldWriteLock, startServer } from "../../harness.ts";

const ours = newFp("clinic");

test("the last use of a key is stored at most once a minute", async () => {
  const server = await startServer(clinic(ours));
  const key = await server.makeKey(ours, ["clinic.patient.view"]);
  const lastUsed = async () => {
    // The use is stored after the response. On SQLite this transaction waits for that write.
    await server.store.transaction(async () => undefined);
    return (await listKeys(server.store, 1))[0]?.last_used_at;
  };
  await expect.poll(lastUsed).toBe(null);
  await server.get(key, "/api/v1/patients");
  await expect.poll(lastUsed).toBe("2026-11-21T12:00:00.000Z");
  server.clock.now += 59_999;
  await server.get(key, "/api/v1/patients");
  await expect.poll(lastUsed).toBe("2026-11-21T12:00:00.000Z");
  server.clock.now += 1;
  await server.get(key, "/api/v1/patients");
  await expect.poll(lastUsed).toBe("2026-11-21T12:01:00.000Z");
});

test("the first use of a key is stored before the response, and again with the next request if that fails", async () => {
  const server = await startServer(clinic(ours));
  const key = await server.makeKey(ours, ["clinic.patient.view"]);
  const warnings = () => server.log.filter((line) => line.includes("the last use of a key was not stored")).length;
  const lastUsed = async () => (await listKeys(server.store, 1))[0]?.last_used_at;
  const other = await connectTo(server.database);
  await other.run(heldWriteLock());
  expect((await server.get(key, "/api/v1/patients")).status).toBe(200);
  expect(warnings()).toBe(1);
  await other.run("rollback");
  await other.close();
  expect((await server.get(key, "/api/v1/patients")).status).toBe(200);
  expect([await lastUsed(), warnings()]).toEqual(["2026-11-21T12:00:00.000Z", 1]);
});
