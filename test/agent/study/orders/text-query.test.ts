import { beforeEach, describe, expect, test } from "vitest";
import { fujiAu } from "../../../../agent/devices/text/fuji-au.ts";
import { fujiDriChemNx } from "../../../../agent/devices/text/fuji-dri-chem-nx.ts";
import type { TextProfile } from "../../../../agent/protocols/text/profile.ts";
import { HostQueries } from "../../../../agent/study/orders/host-query.ts";
import { createServerClient } from "../../../../agent/push/server-client.ts";
import { Directory } from "../../../../agent/study/patient-directory.ts";
import { cat, dog } from "../../../support/runner/fixtures.ts";
import { scriptedServer } from "../../../support/peers/scripted-server.ts";
import { useSpool } from "../../../support/spool.ts";

// Method: a real spool with two patients and an order of each, and a server without patients.

const used = useSpool();
let queries: HostQueries;

beforeEach(async () => {
  const server = await scriptedServer(() => ({ status: 404 }));
  const client = createServerClient(server.url, () => "sk_live_test");
  queries = new HostQueries(used.spool, new Directory(used.spool, client));
  const named = { ...cat, name: "Lök@um, the second", sex: "MN" };
  await used.spool.call(
    "upsertPatients",
    [dog, named].map((patient) => ({ fp: patient.fp, body: JSON.stringify(patient) })),
    0,
  );
  await used.spool.call("setIdentifiers", [{ patientFp: dog.fp, identifiers: ["4711"] }], 0);
  await place("VDAG0001", dog.fp, ["GLU-PS", "CRE-PS"], 2_000);
  await place("VCAT0001", cat.fp, ["v-T4"], 1_000);
  return () => server.close();
});

async function place(accession: string, patientFp: string, tests: readonly string[], ageMs: number): Promise<void> {
  const order = { device: "chem-1", tests, createdAt: Date.now() - ageMs, state: "placed" as const };
  expect(await used.spool.call("placeOrder", { accession, patientFp, ...order })).toBe(true);
}

/** @returns the reply without the padding of its columns, and the accessions that the device has now */
async function answered(query: string, profile: TextProfile, incomplete: string | null = null) {
  const received = { id: "M1", device: "chem-1", profile: profile.id, receivedAt: Date.now() };
  const [reply] = await queries.reply({ ...received, incomplete, bytes: Buffer.from(query) }, profile, "UTC");
  if (reply === undefined) return null;
  const text = Buffer.from(reply.message)
    .toString("latin1")
    .replaceAll("\x17", "<ETB>")
    .replace(/ +(?=,|<ETB>|$)/g, "");
  return [text, ...reply.accessions];
}

describe("the chemistry", () => {
  test("gets the tests of a sample (W), padded", async () => {
    const query = { id: "M1", device: "chem-1", profile: "fuji-dri-chem-nx", receivedAt: 0, incomplete: null };
    const [reply] = await queries.reply({ ...query, bytes: Buffer.from("W,VDAG0001     ") }, fujiDriChemNx, "UTC");
    expect(Buffer.from(reply!.message).toString("latin1")).toBe(
      "W,VDAG0001     ,             ,Zeytin       ,02,GLU-PS  ,CRE-PS  ",
    );
    expect(reply!.accessions).toEqual(["VDAG0001"]);
  });

  test.each([
    ["an unknown sample", "W,99", "W,99,,,00"],
    ["the number of a patient", "W,4711", "W,4711,,,00"],
    ["no sample", "W,", "W,,,,00"],
  ])("gets no tests for %s", async (_, query, reply) => {
    expect(await answered(query, fujiDriChemNx)).toEqual([reply]);
  });

  test("gets the list of open orders (I), up to the requested number, and none counts as sent", async () => {
    expect(await answered("I,,10", fujiDriChemNx)).toEqual([
      "I,02,VDAG0001,,Zeytin,,1,999<ETB>VCAT0001,,Lok um  the s,,0,999",
    ]);
    expect(await answered("I,,01", fujiDriChemNx)).toEqual(["I,01,VDAG0001,,Zeytin,,1,999"]);
    expect(await answered("I,VCAT0001,10", fujiDriChemNx)).toEqual(["I,01,VCAT0001,,Lok um  the s,,0,999"]);
    expect(await answered("I,99,10", fujiDriChemNx)).toEqual(["I,00,99,,,,9,999"]);
  });
});

describe("the immunoassay", () => {
  test("gets samples with their tests (X), and with the kind of each interval (Y)", async () => {
    expect(await answered("X,VCAT0001,,,05", fujiAu)).toEqual([
      "X,01,VCAT0001,,Lok um  the s,,0,999,01,v-T4",
      "VCAT0001",
    ]);
    expect(await answered("Y,VCAT0001,,,05", fujiAu)).toEqual([
      "Y,01,VCAT0001,,Lok um  the s,,0,999,01,v-T4,0",
      "VCAT0001",
    ]);
    expect(await answered("X,,4711,,05", fujiAu)).toEqual([
      "X,01,VDAG0001,,Zeytin,,1,999,02,GLU-PS,CRE-PS",
      "VDAG0001",
    ]);
    expect((await answered("X,,,,05", fujiAu))?.slice(1)).toEqual(["VDAG0001", "VCAT0001"]);
  });

  test("gets none for an unknown sample", async () => {
    expect(await answered("X,99,,,05", fujiAu)).toEqual(["X,00,99,,,,9,999,00"]);
  });
});

test("results, trouble and incomplete queries get no reply", async () => {
  for (const text of ["R,NORMAL", "E,2026-11-21", "S,NORMAL", "NORMAL 2026-11-21"]) {
    expect(await answered(text, fujiDriChemNx)).toBeNull();
  }
  expect(await answered("W,VDAG0001", fujiDriChemNx, "BCC 41, computed 42")).toBeNull();
});
