import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { genericPoct1a } from "../../../agent/devices/generic-poct1a.ts";
import type { Profile } from "../../../agent/devices/profile.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { Filing } from "../../../agent/study/filing.ts";
import { reassess } from "../../../agent/tools/offline/reprocess.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { scriptedServer } from "../../support/peers/scripted-server.ts";
import { noteFetched, useSpool } from "../../support/spool.ts";
import { hello, said } from "../protocols/poct1/wire.ts";
import { astmDevice, hl7Device } from "../../support/clinic/profiles.ts";

const mindrayBs = hl7Device("mindray-bs");
const genericAstm = astmDevice("generic-astm");
const genericHl7 = hl7Device("generic-hl7");

// Goal: a result that a device withdraws leaves its study in every protocol: OBX-11 D, W and X, R-9 X, OBS.status_cd D and R, and
// the value `""`. Method: the test stores messages in a real spool as a connection does, and files them.

const used = useSpool();
const matchPatientsByName = false;
let server: Awaited<ReturnType<typeof scriptedServer>>;
let filing: Filing;
let ordinal: number;
let profile: Profile;
const deviceById = () => ({ profile, timeZone: "UTC", model: null });

beforeEach(async () => {
  ordinal = 0;
  await noteFetched(used.spool);
  server = await scriptedServer(() => ({ status: 404 })); // the clinic has no patient, so all studies are unmatched
  const directory = new Directory(
    used.spool,
    createServerClient(server.url, () => "sk_live_test"),
  );
  filing = new Filing(used.spool, directory, deviceById, {
    outcomeStored: () => undefined,
    fault: (_, error) => {
      throw error;
    },
  });
});

afterEach(async () => {
  await filing.idle();
  await server.close();
});

async function receive(bytes: Buffer): Promise<void> {
  const message = { id: `M${ordinal}`, device: "chem-1", profile: profile.id, receivedAt: ordinal, bytes };
  const stored = { ...message, session: 1, ordinal: ordinal++, incomplete: null };
  await used.spool.call("addMessage", stored, null);
  await filing.accept(stored);
}

/** @returns number, results and snapshot rows of every revision, in order */
async function revisions(): Promise<string[]> {
  const { batch } = await used.spool.call("takeQueued", 1_000, 10_000_000, 0);
  return batch.map(({ revision, body, snapshot }) => {
    const { results } = JSON.parse(body) as { results: { analyte: string; value: number }[] };
    const { rows } = JSON.parse(snapshot) as { rows: { analyte: string }[] };
    expect(rows.map(({ analyte }) => analyte)).toEqual(results.map(({ analyte }) => analyte));
    return [revision, ...results.map(({ analyte, value }) => `${analyte} ${value}`)].join(" ");
  });
}

const states = () => readSpool(used.folder, listMessages).map(({ state, reason }) => `${state}: ${reason}`);

/** Results of one sample: analyte, value, status. */
type Rows = readonly (readonly [name: string, value: string, status?: string])[];

const astm = (rows: Rows) =>
  Buffer.from(
    [
      "H|\\^&|||Analyzer^1|||||||P|LIS2-A2|20261121120000",
      "P|1|4711",
      "O|1|S-1||^^^Panel|R||20261121110000",
      ...rows.map(([name, value, status = "F"], index) => `R|${index + 1}|^^^${name}|${value}|mmol/L||||${status}`),
      "L|1|N",
    ]
      .map((record) => `${record}\r`)
      .join(""),
  );

const hl7 = (rows: Rows) =>
  Buffer.from(
    [
      `MSH|^~\\&|LAB-1|Vendor|||20261121120000||ORU^R01|${ordinal}|P|2.3.1`,
      "PID|1||4711",
      "OBR|1||S-1|CHEM|||20261121110000",
      ...rows.map(
        ([name, value, status = "F"], index) => `OBX|${index + 1}|NM|^${name}||${value}|mmol/L|||||${status}`,
      ),
    ]
      .map((segment) => `${segment}\r`)
      .join(""),
  );

const poct1 = (rows: Rows) => {
  const observations = rows.map(
    ([name, value, status = "A"]) =>
      `<OBS><OBS.observation_id V="${name}"/><OBS.value V="${value}" U="mmol/L"/><OBS.status_cd V="${status}"/></OBS>`,
  );
  const fields = '<SVC.role_cd V="OBS"/><SVC.observation_dttm V="2026-11-21T11:00:00Z"/><SVC.sequence_nbr V="12"/>';
  const patient = `<PT><PT.patient_id V="4711"/>${observations.join("")}</PT>`;
  return Buffer.from(hello() + said("OBS.R01", 3 + ordinal, `<SVC>${fields}${patient}</SVC>`));
};

describe.each([
  ["ASTM R-9 X", genericAstm, astm, "X", "cannot be done (R-9 is X)"],
  ["HL7 OBX-11 D", genericHl7, hl7, "D", "deleted (OBX-11 is D)"],
  ["HL7 OBX-11 W", genericHl7, hl7, "W", "the value sent before is wrong (OBX-11 is W)"],
  ["HL7 OBX-11 X", genericHl7, hl7, "X", "cannot be done (OBX-11 is X)"],
  ["POCT1-A status D", genericPoct1a, poct1, "D", "discarded (OBS.status_cd is D)"],
  ["POCT1-A status R", genericPoct1a, poct1, "R", "rejected (OBS.status_cd is R)"],
] as const)("%s", (_, of, message, status, why) => {
  beforeEach(() => {
    profile = of;
  });

  test("a withdrawal removes one result from the study, and a second one the last", async () => {
    await receive(
      message([
        ["NA", "147"],
        ["K", "4.1"],
      ]),
    );
    await receive(message([["K", "4.1", status]]));
    await receive(
      message([
        ["NA", "147", status],
        ["K", "4.1", status],
      ]),
    );
    expect(await revisions()).toEqual(["1 NA 147 K 4.1", "2 NA 147", "3"]);
    expect(states()[1]).toBe(
      `pending: no result could be read: K has no final value: ${why}; no patient has the identifier "4711"`,
    );
  });

  test("a repeated withdrawal changes nothing", async () => {
    await receive(
      message([
        ["NA", "147"],
        ["K", "4.1"],
      ]),
    );
    for (let times = 0; times < 3; times++) await receive(message([["K", "", status]]));
    expect(await revisions()).toEqual(["1 NA 147 K 4.1", "2 NA 147"]);
  });

  test("a withdrawal with a new value of the same analyte is a correction", async () => {
    await receive(
      message([
        ["NA", "147"],
        ["K", "4.1"],
      ]),
    );
    await receive(
      message([
        ["K", "4.1", status],
        ["K", "4.4"],
      ]),
    );
    await receive(
      message([
        ["K", "4.5"],
        ["K", "4.4", status],
      ]),
    );
    expect(await revisions()).toEqual(["1 NA 147 K 4.1", "2 NA 147 K 4.4", "3 NA 147 K 4.5"]);
  });

  test("a later value of a withdrawn result returns to the study", async () => {
    await receive(message([["K", "4.1"]]));
    await receive(message([["K", "", status]]));
    await receive(message([["K", "4.3"]]));
    expect(await revisions()).toEqual(["1 K 4.1", "2", "3 K 4.3"]);
  });

  test("a withdrawal of an unknown result creates no study and is quarantined", async () => {
    await receive(message([["K", "4.1", status]]));
    expect(await revisions()).toEqual([]);
    expect(states()).toEqual([expect.stringMatching(/^quarantined: no result could be read: K has no final value: /)]);
    const wanted = { states: ["quarantined"] as const, since: 0 };
    const known = { analyzers: new Map([["chem-1", deviceById()]]), imaging: new Map() };
    const [again] = await reassess(used.folder, wanted, known, matchPatientsByName, () => undefined);
    expect(again?.diff).toEqual([]);
    // With a valid result it adds no row.
    await receive(
      message([
        ["NA", "147"],
        ["K", "4.1", status],
      ]),
    );
    expect(await revisions()).toEqual(["1 NA 147"]);
  });
});

test.each([
  ["ASTM", genericAstm, astm, ["I", "N", "P", "S"]],
  ["HL7", genericHl7, hl7, ["I", "N", "O", "P", "R", "S"]],
] as const)("%s: what is not final yet takes nothing back", async (_, of, message, statuses) => {
  profile = of;
  await receive(
    message([
      ["NA", "147"],
      ["K", "4.1"],
    ]),
  );
  for (const status of statuses) await receive(message([["K", "4.9", status]]));
  expect(await revisions()).toEqual(["1 NA 147 K 4.1"]);
});

test.each([
  ["ASTM", genericAstm, astm],
  ["HL7", genericHl7, hl7],
] as const)('%s: a value that is "" deletes the one before it, an empty one does not', async (_, of, message) => {
  profile = of;
  await receive(
    message([
      ["NA", "147"],
      ["K", "4.1"],
    ]),
  );
  await receive(message([["K", ""]]));
  await receive(message([["NA", '""']]));
  expect(await revisions()).toEqual(["1 NA 147 K 4.1", "2 K 4.1"]);
});

test("a withdrawn test of a one-test analyzer leaves the study of its sample", async () => {
  profile = mindrayBs;
  const tested = (name: string, status: string) =>
    Buffer.from(
      [
        "MSH|^~\\&|Mindray|BS-200E|||20261121100000||ORU^R01|1|P|2.3.1||||0||ASCII",
        "PID|1|4711",
        "OBR|1|LAB-1|7|Mindray^BS-200E|Y",
        `OBX|1|NM|2|${name}|52|U/L|-||||${status}`,
      ]
        .map((segment) => `${segment}\r`)
        .join(""),
    );
  for (const [name, status] of [
    ["ALT", "F"],
    ["AST", "F"],
    ["ALT", "D"],
  ] as const)
    await receive(tested(name, status));
  expect(await revisions()).toEqual(["1 ALT 52", "2 ALT 52 AST 52", "3 AST 52"]);
});
