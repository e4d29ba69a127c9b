import path from "node:path";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { readProfileText } from "../../../../agent/devices/table/load.ts";
import { writeSpool } from "../../../../agent/spool/access.ts";
import type { FilingDevice } from "../../../../agent/study/assess.ts";
import { differenceOf, finishAdoptions, intendAdoption } from "../../../../agent/tools/offline/adopt.ts";
import { store } from "../../../../agent/tools/offline/reprocess.ts";
import { dog } from "../../../support/runner/fixtures.ts";
import { astmDevice, hl7Device } from "../../../support/clinic/profiles.ts";
import { type FilingClinic, resultsOf, useFilingClinic } from "../../../support/clinic/filing-clinic.ts";

// Goal: another revision of a profile changes what it reads otherwise, and nothing else.

let clinic: FilingClinic;
useFilingClinic((created) => (clinic = created));

beforeEach(async () => {
  await clinic.know(dog, "4711");
  clinic.devices.set("chem-1", { profile: astmDevice("generic-astm"), timeZone: "UTC", model: null });
});

/** A revision of the device's profile; `rows` are its rules. */
function use(revision: number, more = "", base = "generic-astm"): void {
  const text = `schema: 1\nprofile: own/acme-x1\nrevision: ${revision}\nextends: ${base}@1\ndevice: { name: Acme X1 }\n${more}`;
  const read = readProfileText(text, "x.yaml");
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  const profile: FilingDevice["profile"] = { ...read.profile, id: `own/acme-x1@${revision}` };
  clinic.devices.set("chem-1", { profile, timeZone: "UTC", model: null });
}

/** Files the results of one sample, a message each. */
async function receive(...results: readonly string[]): Promise<void> {
  for (const [index, result] of results.entries()) {
    const time = `2026112111${30 + index}00`;
    const records = [
      "H|\\^&|||Acme",
      "P|1|4711",
      `O|1|1234567890||^^^Panel|R||${time}`,
      `R|1|^^^${result}||||F||||${time}`,
    ];
    await clinic.receive("chem-1", [...records, "L|1|N"]);
  }
  await clinic.push();
}

const difference = () => differenceOf({ data: clinic.folder }, clinic.devices, { device: "chem-1", since: 0 });

describe("another revision of a profile", () => {
  test("reads the messages that one study collects", async () => {
    await receive("ALT|80|U/L", "ALP|51|U/L");
    use(2, "results: { unit: { is: ukat/L } }\n");
    const { changed, split, rows } = await difference();
    expect([split.length, rows]).toEqual([0, { added: 0, changed: 2, lost: 0 }]);
    store(clinic.folder, changed);
    expect((await clinic.push()).map(resultsOf).at(-1)).toEqual([
      expect.stringMatching(/^ALT 80 ukat/),
      expect.stringMatching(/^ALP 51 ukat/),
    ]);
  });

  test("keeps the rows of a message that the spool removed because of its age", async () => {
    await receive("ALT|80|U/L", "ALP|51|U/L");
    const db = new Database(path.join(clinic.folder, "spool.db"));
    db.exec("DELETE FROM message WHERE id = 'M0'; DELETE FROM message_study WHERE message = 'M0'");
    db.close();
    use(2, "rows: [{ as: remark, when: { R-3: '\\^GLU' } }]\n");
    expect((await difference()).rows).toEqual({ added: 0, changed: 0, lost: 0 });
  });

  test("names a patient of its own only if a person sees it first, or has confirmed it", async () => {
    clinic.devices.set("chem-1", { profile: hl7Device("generic-hl7"), timeZone: "UTC", model: null });
    const segments = [
      "MSH|^~\\&|ACME||||||ORU^R01|1|P|2.3.1",
      "PID|1||X|||||||||||||||4711",
      "OBR|1||S-1|||20260101090000",
    ];
    await clinic.receive("chem-1", [...segments, "OBX|1|NM|WBC||7.5|10*9/L|||||F"]);
    await clinic.push();
    use(2, "patient: { identifier: PID-18 }\n", "generic-hl7");
    const patients = async (isUnseen: boolean) => {
      const wanted = { device: "chem-1", since: 0, ...(isUnseen && { isUnseen: true as const }) };
      const { changed } = await differenceOf({ data: clinic.folder }, clinic.devices, wanted);
      return changed.flatMap(({ settlement }) =>
        settlement.studies.map(({ body }) => body.patient_fp ?? body.unmatched?.code),
      );
    };
    expect(await patients(false)).toEqual([dog.fp]);
    // It stays on the desk.
    expect(await patients(true)).toEqual([]);
  });

  test("is completed although another device's adoption was interrupted before it", async () => {
    await receive("ALT|80|U/L");
    use(1, "results: { unit: { is: ukat/L } }\n");
    const devices = [
      { id: "chem-1", profile: "own/acme-x1@1" },
      { id: "chem-2", profile: "own/acme-x1@1" },
    ];
    const config = { data: clinic.folder, devices };
    const left = { device: "chem-1", from: "generic-astm", to: "own/acme-x1@1", since: 0 };
    writeSpool(clinic.folder, (operations) => operations.setMeta("adoption", JSON.stringify(left)));
    const further = { ...left, device: "chem-2" };
    intendAdoption(clinic.folder, further);
    // One that is not pinned any more is forgotten.
    intendAdoption(clinic.folder, { ...left, device: "chem-3" });
    expect(await finishAdoptions(config, clinic.devices)).toEqual([left, further]);
    expect((await clinic.push()).flatMap(resultsOf)).toEqual([expect.stringMatching(/^ALT 80 ukat/)]);
    expect(await finishAdoptions(config, clinic.devices)).toEqual([]);
  });

  test("leaves the devices of a running agent their turn while it reads and stores many messages", async () => {
    await receive(...Array.from({ length: 25 }, (_, index) => `ALT|${80 + index}|U/L`));
    use(1, "results: { unit: { is: ukat/L } }\n");
    const config = { data: clinic.folder, devices: [{ id: "chem-1", profile: "own/acme-x1@1" }] };
    intendAdoption(clinic.folder, { device: "chem-1", from: "generic-astm", to: "own/acme-x1@1", since: 0 });
    const turns: string[] = [];
    let stage = "read";
    const turn = () => {
      turns.push(stage);
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    onTestFinished(() => clearImmediate(next));
    await finishAdoptions(config, clinic.devices, () => (stage = "read again"));
    expect(turns.filter((each) => each === "read again").length).toBeGreaterThanOrEqual(4);
  });

  test("that a stop ends in its middle is taken up again", async () => {
    await receive("ALT|80|U/L", "ALP|51|U/L");
    use(1, "results: { unit: { is: ukat/L } }\n");
    const config = { data: clinic.folder, devices: [{ id: "chem-1", profile: "own/acme-x1@1" }] };
    const adoption = { device: "chem-1", from: "generic-astm", to: "own/acme-x1@1", since: 0 };
    intendAdoption(clinic.folder, adoption);
    const stopped = finishAdoptions(config, clinic.devices, () => {
      throw new Error("the agent stops");
    });
    await expect(stopped).rejects.toThrow("the agent stops");
    expect(await finishAdoptions(config, clinic.devices)).toEqual([adoption]);
  });
});
