import { setImmediate as nextTurn } from "node:timers/promises";
import Fastify from "fastify";
import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { measureStorage } from "../../../server/operator/measuring.ts";
import { readMeters } from "../../../server/records/hosting/meters.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, startServer, study } from "../harness.ts";

// The leader alone measures how much the clinics store, although several servers share the database.

test("a server measures while it leads, and no longer once it closes", async () => {
  const ours = newFp("clinic");
  const { store, clock, makeFreshKey, push } = await startServer(clinic(ours));
  const key = await makeFreshKey(ours, ["clinic.lab.ingest"], { type: "device" });
  await push(key, study({ results: [] }));
  const looks = vi.spyOn(store, "first");
  /** Counts the looks for a clinic that is due in a span of time. */
  const looksIn = async (ms: number) => {
    looks.mockClear();
    vi.advanceTimersByTime(ms);
    await nextTurn();
    return looks.mock.calls.length;
  };
  let isLeader = false;
  const app = Fastify();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    measureStorage(app, { store, now: () => clock.now, logger: pino({ enabled: false }), isLeader: () => isLeader });
    expect(await looksIn(600_000)).toBe(0);
    isLeader = true;
    expect(await looksIn(60_000)).toBeGreaterThan(0);
    const bytes = async () => (await readMeters(store, { now: clock.now, clinicId: 1 }))?.storage_bytes;
    await expect.poll(bytes).toBe(2);
    await app.close();
    expect(await looksIn(600_000)).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
