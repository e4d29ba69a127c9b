import { expect, test } from "vitest";
import { query } from "../../../server/database/query.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, startServer } from "../harness.ts";

const caller = { device: "chem-1", address: "10.0.0.9", at: "2026-11-21T11:00:00.000Z", count: 2, why: "not allowed" };

const full = {
  version: "0.2.0",
  clock_offset_s: -3,
  outbox: { depth: 1, oldest_at: "2026-11-21T11:00:00.000Z", reason: "full", code: "CLINIC.FULL" },
  devices: [
    {
      id: "chem-1",
      profile: "generic-astm",
      name: "Abaxis VetScan VS2",
      protocol: "astm",
      connection: "0.0.0.0:4001",
      connected: false,
      state: "cannot connect",
      reason: "refused by 10.0.0.5:4001",
      code: "DIAL.REFUSED",
      values: ["10.0.0.5:4001", "4001"],
      may_be_off: true,
      last_warning: { at: "2026-11-21T11:00:00.000Z", reason: "checksum 7B, computed 7C" },
      today: { received: 3, filed: 2, unmatched: 1, quarantined: 0 },
    },
  ],
  callers: [{ ...caller, protocol: "HL7" }],
};

async function heard() {
  const ours = newFp("clinic");
  const server = await startServer(clinic(ours));
  const key = await server.makeKey(ours, ["clinic.lab.ingest"]);
  return {
    beat: async (payload: object) => {
      const headers = { "x-api-key": key };
      const response = await server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload });
      return response.statusCode;
    },
    stored: async () => (await server.store.all(heartbeats, {})).map(({ body }) => JSON.parse(body) as unknown),
  };
}

test("a heartbeat of a later agent is stored without the fields that this server does not know", async () => {
  const { beat, stored } = await heard();
  const later = {
    ...full,
    later: 1,
    devices: full.devices.map((device) => ({ ...device, today: { ...device.today, later: 1 }, sample: "0B 4D" })),
    callers: full.callers.map((one) => ({ ...one, why: "not liked", bytes: "0B 4D 53 48" })),
  };
  expect(await beat(later)).toBe(200);
  expect(await stored()).toEqual([{ ...full, callers: [{ ...full.callers[0], why: "not liked" }] }]);
});

test("a heartbeat of an earlier agent is stored as it is", async () => {
  const { beat, stored } = await heard();
  const earlier = { version: "0.1.0", devices: [{ id: "chem-1", connected: true }] };
  expect(await beat(earlier)).toBe(200);
  expect(await stored()).toEqual([earlier]);
});

test("a heartbeat with more than 20 callers, or a negative count, is refused", async () => {
  const { beat, stored } = await heard();
  expect(await beat({ callers: Array.from({ length: 21 }, () => caller) })).toBe(400);
  expect(await beat({ callers: [{ ...caller, count: -1 }] })).toBe(400);
  expect(await stored()).toEqual([]);
});

const heartbeats = query((db) => db.selectFrom("heartbeat").select("body"));
