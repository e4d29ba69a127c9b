import { createHash } from "node:crypto";
import { Compile } from "typebox/compile";
import { expect, test } from "vitest";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { foldNumber } from "../../../agent/report/control.ts";
import { assess, type FilingDevice } from "../../../agent/study/assess.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { isFp } from "../../../shared/api/fp.ts";
import { ControlRun } from "../../../shared/api/quality.ts";
import { problems } from "../../../shared/schema/problems.ts";
import { dog } from "../../support/runner/fixtures.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";
import { noteFetched, useSpool } from "../../support/spool.ts";
import { ALT, HEADER, message, only } from "../records.ts";

const used = useSpool();
const genericAstm = { profile: astmDevice("generic-astm"), timeZone: "Europe/Istanbul", model: null };

async function settled(records: readonly string[], device: FilingDevice = genericAstm) {
  const { spool } = used;
  await noteFetched(spool);
  await spool.call("upsertPatients", [{ fp: dog.fp, body: JSON.stringify(dog) }], Date.now());
  await spool.call("setIdentifiers", [{ patientFp: dog.fp, identifiers: ["4711", "QC1"] }], Date.now());
  const bytes = message(HEADER, ...records, "L|1|N");
  const stored = {
    id: "M1",
    device: "chem-1",
    profile: "generic-astm",
    receivedAt: 1_764_000_000_000,
    bytes,
    incomplete: null,
  };
  await spool.call("addMessage", { ...stored, session: 1, ordinal: 0 });
  const server = createServerClient("http://127.0.0.1:9", () => "sk_live_test", 100);
  const directory = new Directory(spool, server);
  return { bytes, ...(await assess(stored, device, { spool, directory, matchPatientsByName: false })) };
}

test("a control beside a patient's results is a complete run of its message, and the study is as without it", async () => {
  const control = ["O|2|QC-2||^^^ALT|R||20261121110000||||Q", ALT.replace("|52|", "|99|")];
  const { bytes, controls = [], studies, state } = await settled(["P|1|4711", "O|1|S-1", ALT, ...control]);
  const run = only(controls);
  expect(problems(Compile(ControlRun), run)).toEqual([]);
  expect(isFp("control", run.fp)).toBe(true);
  expect(run).toMatchObject({
    kind: "control",
    level: "2",
    sample_ids: ["QC-2"],
    results: [{ analyte: "ALT", value: 99 }],
  });
  expect(run.source).toEqual({
    device_id: "chem-1",
    message_id: "M1",
    profile: "generic-astm@1",
    receipt: {
      at: new Date(1_764_000_000_000).toISOString(),
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    },
  });
  expect(state).toBe("pending");
  expect(studies.map(({ body }) => [body.patient_fp, body.results.map(({ value }) => value)])).toEqual([
    [dog.fp, [52]],
  ]);
});

test("a message of controls alone has no study, and runs under the key of its first reading when it is read again", async () => {
  const records = ["P|1", "O|1|QC-2||^^^ALT|||||||Q", ALT];
  const first = await settled(records);
  expect([first.state, first.reason, first.studies]).toEqual([
    "not-for-patients",
    "order 1 is quality control: not for a patient",
    [],
  ]);
  const directory = new Directory(
    used.spool,
    createServerClient("http://127.0.0.1:9", () => "sk_live_test", 100),
  );
  const stored = {
    id: "M1",
    device: "chem-1",
    profile: "generic-astm",
    receivedAt: 1,
    bytes: first.bytes,
    incomplete: null,
  };
  const again = await assess(stored, genericAstm, { spool: used.spool, directory, matchPatientsByName: false });
  expect(only(again.controls ?? []).dedupe_key).toBe(only(first.controls ?? []).dedupe_key);
});

test("a number of the clinic's controls is a control though an animal has it too, with a note", async () => {
  const device = { ...genericAstm, controls: new Set([foldNumber("qc 1")]) };
  const { controls = [], reason, state, studies } = await settled(["P|1|QC1|||^Zeytin", "O|1|S-1", ALT], device);
  expect([state, studies, controls.map(({ sample_ids }) => sample_ids)]).toEqual([
    "not-for-patients",
    [],
    [["S-1", "QC1"]],
  ]);
  expect(reason).toBe(
    "sample QC1 is a control of the clinic; QC1 is also the number of an animal: the clinic uses it for controls",
  );
});

test("without the clinic's word the named animal keeps the result", async () => {
  const { controls, studies } = await settled(["P|1|QC1|||^Zeytin", "O|1|S-1", ALT]);
  expect([controls, only(studies).body.patient_fp]).toEqual([undefined, dog.fp]);
});
