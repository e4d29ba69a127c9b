import { expect, test } from "vitest";
import { readAgents } from "../../../../server/records/agents/devices.ts";
import { storeHeartbeat } from "../../../../server/records/agents/heartbeats.ts";
import { expireKey, findClinic, findKeyById, listKeys, revokeKey } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Heartbeat } from "../../../../shared/api/study.ts";
import { clinic, noon, startServer, study } from "../../harness.ts";

const MINUTE = 60_000;

/** A server with two clinics, and heartbeats of keys by their names. */
async function heardServer() {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const server = await startServer(clinic(ours), clinic(theirs));
  const { store } = server;
  const clinicId = (await findClinic(store, ours))!.id;

  async function agent(name: string, heartbeat: Heartbeat | null, { at = noon, of = ours } = {}) {
    const key = await server.makeFreshKey(of, ["clinic.lab.ingest"], { name, type: "device" });
    const ofClinic = (await findClinic(store, of))!.id;
    const { id: publicId } = (await listKeys(store, ofClinic)).find((listed) => listed.name === name)!;
    const stored = (await findKeyById(store, publicId))!;
    if (heartbeat !== null) {
      await store.transaction((session) => storeHeartbeat(session, ofClinic, stored.id, heartbeat, at));
    }
    return { key, stored };
  }

  const read = (now = noon) => readAgents(store, { clinicId, timeZone: "Europe/Istanbul", now });
  return { server, store, clinicId, theirs, agent, read };
}

test("an agent shows what its last heartbeat reports, with its silence and its devices", async () => {
  const { agent, read, theirs } = await heardServer();
  const reason = "no such port /dev/ttyUSB0";
  const warning = { at: "2026-11-21T11:00:00.000Z", reason: "the device dates a result 2099: set its date and time" };
  await agent("Lab PC", {
    version: "0.2.0",
    clock_offset_s: 95,
    outbox: { depth: 3, oldest_at: "2026-11-21T11:00:00.000Z" },
    devices: [
      {
        id: "chem-1",
        name: "Abaxis VetScan VS2",
        profile: "abaxis-vetscan-vs2",
        protocol: "astm",
        connection: "/dev/ttyUSB0",
        state: "cannot open",
        reason,
        last_message_at: null,
        last_warning: warning,
        today: { received: 4, filed: 2, unmatched: 1, quarantined: 1 },
      },
    ],
    callers: [{ device: "chem-1", address: "10.0.0.9", at: "2026-11-21T11:00:00.000Z", count: 2, why: "not allowed" }],
  });
  // The counts of an agent that does not run may be of another day.
  const today = { received: 9, filed: 9, unmatched: 0, quarantined: 0 };
  await agent("Old PC", { devices: [{ id: "hema-1", today }] }, { at: noon - 10 * MINUTE });
  await agent("New PC", null);
  await agent("Their PC", {}, { of: theirs });
  const agents = await read();
  expect(agents).toEqual([
    {
      key: { id: expect.any(String) as string, name: "Lab PC" },
      fp: expect.stringMatching(/^agent_/) as string,
      configuration: "unknown",
      paired_at: null,
      platform: null,
      upgrade: null,
      is_revoked: false,
      is: "running",
      last_seen_at: "2026-11-21T12:00:00.000Z",
      version: "0.2.0",
      clock_offset_s: 95,
      outbox: { depth: 3, oldest_at: "2026-11-21T11:00:00.000Z" },
      devices: [
        {
          id: "chem-1",
          name: "Abaxis VetScan VS2",
          profile: "abaxis-vetscan-vs2",
          protocol: "astm",
          connection: "/dev/ttyUSB0",
          state: { is: "faulty", reason },
          last_message_at: null,
          last_warning: warning,
          study_name: null,
          today: { received: 4, filed: 2, unmatched: 1, quarantined: 1, not_for_patients: null },
        },
      ],
      callers: [
        {
          device: "chem-1",
          address: "10.0.0.9",
          at: "2026-11-21T11:00:00.000Z",
          count: 2,
          why: "not allowed",
          protocol: null,
        },
      ],
    },
    expect.objectContaining({ is: "never heard", last_seen_at: null, version: null, outbox: null, devices: [] }),
    expect.objectContaining({ is: "silent", last_seen_at: "2026-11-21T11:50:00.000Z", clock_offset_s: null }),
  ]);
  expect(agents[2]?.devices).toEqual([
    {
      id: "hema-1",
      name: null,
      profile: null,
      protocol: null,
      connection: null,
      state: { is: "unknown" },
      last_message_at: null,
      last_warning: null,
      study_name: null,
      today: null,
    },
  ]);
});

test("the pauses of a device are those of its own studies", async () => {
  const { server, agent, read } = await heardServer();
  const { key } = await agent("Lab PC", { devices: [{ id: "chem-1" }, { id: "hema-1" }] });
  const at = (hours: number) => new Date(noon - 86_400_000 + hours * 3_600_000).toISOString();
  const measured = (device_id: string, acquired_at: string) =>
    study({ acquired_at, device_name: `${device_id} at ${acquired_at}`, source: { device_id, message_id: "1" } });
  // Friday from 9:00 to 15:00 UTC, and Saturday until 12:00: chem-1 ends with Friday 11:30.
  const chem = [-3, -2.5, -2, -1.5, -1, -0.5].map((hours) => measured("chem-1", at(hours)));
  const hema = [-3, 0, 3, 21, 23, 24].map((hours) => measured("hema-1", at(hours)));
  await server.push(key, ...chem, ...hema);
  const [agentShown] = await read();
  expect(agentShown?.devices.map(({ state }) => state.is)).toEqual(["silent", "ready"]);
  const names = agentShown?.devices.map(({ study_name }) => study_name);
  expect(names).toEqual([`chem-1 at ${at(-0.5)}`, `hema-1 at ${at(24)}`]);
});

test("a rolled key leaves the list once its successor serves the devices; one without a successor stays", async () => {
  const { store, agent, read } = await heardServer();
  const old = await agent("Lab PC", { devices: [{ id: "chem-1" }] }, { at: noon - MINUTE });
  const names = async () => (await read()).map(({ key }) => key.name);
  await store.transaction((session) => expireKey(session, old.stored, noon - 1));
  expect(await names()).toEqual(["Lab PC"]);
  await agent("Lab PC, rolled", { devices: [{ id: "chem-1" }, { id: "hema-1" }] });
  expect(await names()).toEqual(["Lab PC, rolled"]);
  const unused = await agent("Unused", null);
  expect(await names()).toEqual(["Lab PC, rolled", "Unused"]);
  await store.transaction((session) => revokeKey(session, unused.stored.public_id, noon));
  expect(await names()).toEqual(["Lab PC, rolled"]);
});
