import { describe, expect, test } from "vitest";
import { query } from "../../../server/database/query.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { PushedStudy } from "../../../shared/api/study.ts";
import type { DevicesBody } from "../../../server/dashboard/types/devices/devices.ts";
import { heardWords, type ShownReason } from "../../../server/dashboard/types/devices/heard-reason.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinic, connection, importEntities, keyPermissions, patient, startServer, study } from "../harness.ts";

// The server files studies of agents that are one minor version newer or older.

async function ingestServer() {
  const [ours, animal] = [newFp("clinic"), patient()];
  const server = await startServer([clinic(ours), animal], [connection(animal.fp, ours)]);
  const key = await server.makeKey(ours, [...keyPermissions, "clinic.lab.view"]);
  return {
    server,
    animal,
    push: (sent: unknown) => server.push(key, sent),
    read: async (fp: string) => (await server.get(key, `/api/v1/lab/diagnostics/${fp}`)).body.data as unknown,
  };
}

const snapshot: PushedStudy["snapshot"] = {
  catalogue: "1",
  ranges: null,
  instrument: null,
  rows: [
    {
      analyte: "GLU",
      code: "GLU",
      interval_id: null,
      reason: null,
      text: "5.2",
      device_range: null,
      device_species: null,
      device_flag: null,
    },
    {
      analyte: "TBIL",
      code: "TBIL",
      interval_id: null,
      reason: null,
      text: "<0.2",
      device_range: null,
      device_species: null,
      device_flag: null,
    },
  ],
  notes: [],
};

/** Adds a field of a later version to every object of a value. */
function fromLater(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromLater);
  if (typeof value !== "object" || value === null) return value;
  const inner = Object.entries(value).map(([name, part]) => [name, fromLater(part)]);
  return { ...Object.fromEntries(inner), later_field: { deep: [1] } };
}

function without(sent: PushedStudy, ...path: readonly string[]): unknown {
  const [name = "", ...rest] = path;
  const { [name]: inner, ...others } = sent as unknown as Record<string, unknown>;
  return rest.length === 0 ? others : { ...others, [name]: without(inner as PushedStudy, ...rest) };
}

describe("a push of an agent of another version", () => {
  test("a push with unknown fields is filed without them", async () => {
    const { server, animal, push, read } = await ingestServer();
    const sent = study({ patient_fp: animal.fp, snapshot });
    expect(await push(fromLater(sent))).toEqual([{ fp: sent.fp, outcome: "filed", reason: null }]);
    const { fp, patient_fp, modality, device_name, status, acquired_at, results } = sent;
    expect(await read(fp)).toEqual({ fp, patient_fp, modality, device_name, status, acquired_at, results });
    const stored = JSON.stringify(await server.store.all(allStudies, {}));
    expect([stored.includes(fp), stored.includes("later_field")]).toEqual([true, false]);
  });

  test("a resend after an upgrade of the agent is the same study", async () => {
    const { animal, push } = await ingestServer();
    const sent = study({ patient_fp: animal.fp, snapshot });
    const unchanged = [{ fp: sent.fp, outcome: "unchanged", reason: null }];
    await push(sent);
    expect(await push(fromLater(sent))).toEqual(unchanged);
    expect(await push(sent)).toEqual(unchanged);
  });

  test.each([
    ["patient_hint"],
    ["snapshot"],
    ["patient_hint.identifier"],
    ["patient_hint.name"],
    ["patient_hint.species"],
    ["patient_hint.breed"],
    ["patient_hint.sex"],
    ["patient_hint.owner"],
    ["patient_hint.date_of_birth"],
    ["patient_hint.weight_kg"],
  ])("a study without %s is filed", async (path) => {
    const { animal, push } = await ingestServer();
    const sent = study({ patient_fp: animal.fp, snapshot });
    expect(await push(without(sent, ...path.split(".")))).toEqual([{ fp: sent.fp, outcome: "filed", reason: null }]);
  });

  test("a push with a wrong type is rejected", async () => {
    const { push } = await ingestServer();
    const sent = { ...study(), patient_hint: 7 };
    expect(await push(fromLater(sent))).toEqual([
      { fp: sent.fp, outcome: "rejected", code: "STUDY.INVALID", reason: "patient_hint is 7, expected an object" },
    ]);
  });
});

describe("a heartbeat of an agent of another version", () => {
  const noPort = { id: "chem-1", reason: "no such port COM3", state: "cannot open" };
  const ready = { id: "hema-1", state: "listening", reason: null };

  async function stateAfter(...devices: object[]) {
    const ours = newFp("clinic");
    const server = await startServer(clinic(ours));
    const headers = { "x-api-key": await server.makeKey(ours, ["clinic.lab.ingest"]) };
    const sent = { method: "POST", url: "/agent/v1/heartbeat", headers, payload: { devices } } as const;
    expect((await server.app.inject(sent)).statusCode).toBe(200);
    const { body } = await (await makeUser(server, "staff", ours)).call<DevicesBody>("GET", "/devices");
    return body.agents.flatMap(({ devices: shown }) => shown.map(({ state }) => state));
  }

  test("words without a code, as an older agent sends them, are shown", async () => {
    const [state] = await stateAfter(noPort, ready);
    expect(state).toEqual({ is: "faulty", reason: noPort.reason });
    expect(heardWords(state as ShownReason, "tr")).toEqual({ lang: "en", words: noPort.reason });
  });

  test("a known code has this server's words in both languages, whatever the agent's words are", async () => {
    const [state] = await stateAfter({ ...noPort, reason: "later words", code: "PORT.NOT_SERIAL", values: ["COM3"] });
    expect(state).toMatchObject({
      is: "faulty",
      reason: expect.stringMatching(/^COM3 is not a serial port: /) as string,
    });
    expect(heardWords(state as ShownReason, "tr")).toMatchObject({
      lang: "tr",
      words: expect.stringMatching(/^COM3 bir seri port değil: /) as string,
    });
  });

  test("a code of a later agent is kept with the agent's words", async () => {
    const later = { code: "PORT.LATER", values: ["COM3"] };
    const [state] = await stateAfter({ ...noPort, ...later, later_field: 1 });
    expect(state).toEqual({ is: "faulty", reason: noPort.reason, ...later });
    expect(heardWords(state as ShownReason, "tr")).toEqual({ lang: "en", words: noPort.reason });
  });
});

test("an unknown field in an import is an error", async () => {
  const { server, animal } = await ingestServer();
  const { fp, modality, device_name, status, acquired_at, results } = study();
  const line = { type: "study", fp, patient_fp: animal.fp, modality, device_name, status, acquired_at, results };
  await importEntities(server.store, line);
  await expect(importEntities(server.store, { ...line, later_field: 1 })).rejects.toMatchObject({
    problems: [{ line: 1, problem: "later_field is not expected" }],
  });
});

const allStudies = query((db) => db.selectFrom("study").selectAll());
