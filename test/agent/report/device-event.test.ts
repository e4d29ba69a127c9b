import path from "node:path";
import { describe, expect, test } from "vitest";
import { genericPoct1a } from "../../../agent/devices/generic-poct1a.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { faultOf } from "../../../agent/report/device-report.ts";
import type { DeviceEventDraft, Reading } from "../../../agent/report/report.ts";
import { read } from "../../../agent/study/read.ts";
import { replay } from "../../../agent/tools/offline/replay.ts";
import { readSpecies } from "../../../shared/clinical/species.ts";
import { recording, recordings } from "../../support/runner/fixtures.ts";
import { astmDevice, hl7Device } from "../../support/clinic/profiles.ts";
import { bytes, hello, said } from "../protocols/poct1/wire.ts";
import { context, message, readWith, VETSCAN_HEADER } from "../records.ts";

const vetscan = astmDevice("abaxis-vetscan-vs2");
const genericHl7 = hl7Device("generic-hl7");

/** What an event says, without its keys. */
function textOf({ event, at, subject, lot, expires, count, text }: DeviceEventDraft): string {
  return [event, at.slice(0, 16), subject, lot, expires, count, text].filter((part) => part !== null).join(" | ");
}

function eventsOf(name: string): DeviceEventDraft[] {
  const profile = profileById(path.dirname(name));
  if (profile === undefined) throw new Error(`no profile of ${name}`);
  const { messages } = replay([recording(name)], profile, context, null);
  return messages.flatMap(({ reading }) => reading.events ?? []);
}

function hl7(...segments: readonly string[]): Reading {
  return read(message(...segments), genericHl7, context);
}

const MSH = (type: string) => String.raw`MSH|^~\&|LAB-1|Vendor|||20261121113100||${type}|1|P|2.5.1`;
const toldBy = (reading: Reading) => (reading.events ?? []).map(textOf);

describe("what devices report about themselves", () => {
  test.each([
    ["abaxis-vetscan-vs2/dog.astm", ["reagent | 2026-11-21T07:00 | Comprehensive Diagnostic | 9999A"]],
    ["abaxis-vetscan-vs2/sign-on.astm", ["start | 2026-11-21T07:15 | Power Up Initialization Sign On"]],
    ["abaxis-vetscan-vs2/demo.astm", []],
    ["abaxis-vetscan-vs2/qc-only.astm", []],
    ["siemens-dca/hba1c.astm", ["reagent | 2026-11-21T08:35 | HbA1c | 0099"]],
    ["epoc/results-and-run-data.astm", ["reagent | 2026-11-21T08:30 | Card | 09-26001-10"]],
    ["radiometer-abl/blood-gas.astm", ["calibration | 2026-11-21T08:47 | 377 | Calibration Drift 2 out of range"]],
    ["fuji-dri-chem-nx/type-a.astm", ["reagent | 2026-11-21T08:30 | GLU | 204118 | 2027-08-31"]],
    ["fuji-dri-chem-nx/test-begun-and-error.astm", ["fault | 2026-11-21T08:31 | I4102 | The slide is stuck"]],
    ["fuji-dri-chem-nx-hl7/urine.hl7", ["reagent | 2026-11-21T08:30 | CRE | 345678 | 2027-10-31"]],
    ["bionote-vcheck/titre-step.hl7", ["reagent | 2026-11-21T08:30 | Canine CAV Ab | 011"]],
    ["bionote-vcheck/canine-crp.hl7", []], // LotNo=0
    ["generic-hl7/alarm.hl7", ["fault | 2026-11-21T08:31 | ALARM | door open"]],
    [
      "mythic/not-for-patients.astm",
      ["calibration | 2026-11-21T04:30 | K-77 | 2027-05-01", "start | 2026-11-21T04:12 | PASSED"],
    ],
  ])("%s tells of its lots, starts, calibrations and faults", (name, expected) => {
    expect(eventsOf(name).map(textOf)).toEqual(expected);
  });

  test("the state of equipment (ESU^U01) is a maintenance, a start or a fault", () => {
    expect(toldBy(hl7(MSH("ESU^U01"), "EQU|A1|20261121113000|MA^Maintenance||N^Normal"))).toEqual([
      "maintenance | 2026-11-21T08:30 | Maintenance",
    ]);
    expect(toldBy(hl7(MSH("ESU^U01"), "EQU|A1|20261121113000|ES^Emergency stop||C^Critical"))).toEqual([
      "fault | 2026-11-21T08:30 | ES | Emergency stop",
    ]);
    expect(toldBy(hl7(MSH("ESU^U01"), "EQU|A1|20261121113000|OP^Normal operation||N"))).toEqual([]);
  });

  test("a notification of equipment (EAN^U09) is a fault from the level of a warning on", () => {
    const notice = (level: string) => hl7(MSH("EAN^U09"), "EQU|A1", `NDS|1|20261121113000|${level}|E17^Probe blocked`);
    expect(toldBy(notice("W^Warning"))).toEqual(["fault | 2026-11-21T08:30 | E17 | Probe blocked"]);
    expect(toldBy(notice("N^Normal"))).toEqual([]);
  });

  test("the stock of an analyzer (INU^U05) has lots with expiry and amount, without controls and waste", () => {
    const inv = (name: string, type: string) => `INV|R1^${name}|OK|${type}||||100|50|37||tests|20270131||||L-77`;
    expect(toldBy(hl7(MSH("INU^U05"), "EQU|A1", inv("ALT", "MR"), inv("Level 1", "CO"), inv("Waste", "LW")))).toEqual([
      "reagent | 2026-11-21T08:31 | ALT | L-77 | 2027-01-31",
      "counter | 2026-11-21T08:31 | ALT | 37 | tests",
    ]);
  });

  test("the substance of a result (SID) is the lot of its test", () => {
    const obr = "OBR|1||S-1|CHEM|||20261121113015";
    const alt = "OBX|1|NM|1742-6^ALT^LN||52|U/L|||||F";
    expect(toldBy(hl7(MSH("OUL^R22"), "SPM|1|S-1", obr, alt, "SID|ALT|L-77"))).toEqual([
      "reagent | 2026-11-21T08:30 | ALT | L-77",
    ]);
  });

  test("a POCT1-A device names its reagents beside the results, and a calibration by its role", () => {
    const field = (name: string, value: string) => `<${name} V="${value}"/>`;
    const at = field("SVC.observation_dttm", "2026-11-21T12:55:10+03:00");
    const reagent = `<RGT>${field("RGT.name", "G3+")}${field("RGT.lot_number", "D26")}${field("RGT.expiration_date", "2027-03-31")}</RGT>`;
    const obs = `<OBS>${field("OBS.observation_id", "2823-3")}${field("OBS.value", "4.1")}</OBS>`;
    const patient = `<PT>${field("PT.patient_id", "4711")}${obs}</PT>`;
    const ofPatient = `<SVC>${field("SVC.role_cd", "OBS")}${at}${patient}${reagent}</SVC>`;
    expect(toldBy(read(bytes(hello() + said("OBS.R01", 3, ofPatient)), genericPoct1a, context))).toEqual([
      "reagent | 2026-11-21T09:55 | G3+ | D26 | 2027-03-31",
    ]);
    const control = `<CTC>${field("CTC.name", "CalFluid")}${field("CTC.lot_number", "C9")}${obs}</CTC>`;
    const calibration = `<SVC>${field("SVC.role_cd", "CAL")}${at}${control}</SVC>`;
    expect(toldBy(read(bytes(hello() + said("OBS.R02", 3, calibration)), genericPoct1a, context))).toEqual([
      "calibration | 2026-11-21T09:55 | CalFluid | C9",
    ]);
  });

  test("a warning of a POCT1-A device is a fault, and a note or words about someone are not", () => {
    const fault = (event: object) =>
      faultOf({ device: "ACME|BG1|SN77", topic: "event", content: JSON.stringify(event) }, "poc-1", context.receivedAt);
    const low = { at: "2026-11-21T12:55:10+03:00", description: "Battery low", severity: "W" };
    expect(textOf(fault(low)!)).toBe("fault | 2026-11-21T09:55 | Battery low");
    expect(fault(low)?.device_name).toBe("BG1 SN77");
    expect(textOf(fault({ ...low, number: "E4", description: "Patient 4711 not found" })!)).toBe(
      "fault | 2026-11-21T09:55 | E4",
    );
    expect(fault({ ...low, description: "Patient 4711 not found" })).toBe(null);
    expect(fault({ ...low, severity: "N" })).toBe(null);
  });
});

describe("repetitions", () => {
  const P = "P|1|4711|||||||||||||Dog";
  const run = (lot: string, time: string) =>
    readWith(vetscan, VETSCAN_HEADER, P, `O|1|||^^^Panel: ${lot}||${time}`, "R|1|1742-6^^LN^ALT|52|U/L", "L|1|N");
  const keyOf = (reading: Reading) => reading.events?.map(({ dedupe_key }) => dedupe_key);

  test("a lot with each result is the same event until the lot changes", () => {
    const first = keyOf(run("1111A", "20261121100030"));
    expect(first).toHaveLength(1);
    expect(keyOf(run("1111A", "20261121120000"))).toEqual(first);
    expect(keyOf(run("2222B", "20261121120000"))).not.toEqual(first);
  });

  /** A slide of August 2026. */
  const slide = (time: string) => {
    const received = { ...context, receivedAt: Date.parse("2027-01-01T00:00:00Z") };
    const row = String.raw`OBX|1|ST|1742-6\T\MDT^ALT^LN||345678,2026/08, ,0,0,0||||||F||||||||${time}`;
    const result = `OBX|1|NM|1742-6^ALT^LN||52|U/L|||||F||||||||${time}`;
    return read(
      message(MSH("OUL^R22").replace("LAB-1|Vendor", "|"), "SPM|1|4711", "OBR|1", result, row),
      hl7Device("fuji-dri-chem-nx-hl7"),
      received,
    );
  };

  test("the first use of a lot after its last day is an event of its own, and one each month", () => {
    const times = ["20260801090000", "20260831235900", "20260901000100", "20260930090000", "20261001090000"];
    const keys = times.map((time) => keyOf(slide(time))?.[0]);
    expect(new Set(keys).size).toBe(3);
    expect([keys[1], keys[3]]).toEqual([keys[0], keys[2]]);
  });

  test("a fault is one event a day of the device's zone, by its code", () => {
    const alarm = (time: string, code: string) =>
      keyOf(hl7(MSH("EAN^U09"), "EQU|A1", `NDS|1|${time}|W|${code}^Probe blocked`));
    const morning = alarm("20261121000100", "E17");
    expect(morning).toHaveLength(1);
    expect(alarm("20261121110000", "E17")).toEqual(morning);
    expect(alarm("20261120235900", "E17")).not.toEqual(morning);
    expect(alarm("20261121110000", "E18")).not.toEqual(morning);
  });

  test("two messages of one run have the same event", () => {
    const [first, second, ...others] = eventsOf("abaxis-vetscan-vs2/resent-result.astm");
    expect(others).toEqual([]);
    expect(second).toEqual(first);
  });
});

describe("patients", () => {
  /** Texts of patients' fields in a recording: parts of PID and P, and the values of PT. */
  function patientTexts(text: string): string[] {
    // A record of a frame follows STX and a digit.
    const records = text.split(/[\r\n]/).map((line) => /^(?:PID|.{0,2}(?<![A-Z])P)\|(.*)/.exec(line)?.[1] ?? "");
    const poct1 = [...text.matchAll(/<PT>.*?<OBS>/gs)].flatMap(([part]) =>
      [...part.matchAll(/V="([^"]*)"/g)].map(([, value = ""]) => value),
    );
    const parts = records.flatMap((fields) => fields.split(/[|^~\\&]/)).concat(poct1);
    return parts
      .map((part) => part.trim().toLowerCase())
      .filter((part) => part.length > 2 && readSpecies(part) === null);
  }

  test("no text of a patient's field is in an event of any recording", () => {
    let [events, fields] = [0, 0];
    for (const { name, bytes: sent } of recordings) {
      const profile = profileById(path.dirname(name));
      if (profile === undefined) continue;
      const texts = patientTexts(sent.toString("latin1")).concat(patientTexts(sent.toString("utf8")));
      const { messages } = replay([sent], profile, context, null);
      for (const event of messages.flatMap(({ reading }) => reading.events ?? [])) {
        events += 1;
        fields += texts.length;
        const words = [event.subject, event.lot, event.text].join("\n").toLowerCase();
        expect([name, texts.filter((text) => words.includes(text))]).toEqual([name, []]);
      }
    }
    expect([events > 25, fields > 100]).toEqual([true, true]);
  });

  test("an alarm about a patient is not an event, nor is a number", () => {
    const alarm = (value: string) => `OBX|1|ST|ALARM||${value}||||||F`;
    expect(toldBy(hl7(MSH("ORU^R40"), "PID|1||4711^^^^MR||Aydin^Zeytin", alarm("heart rate low")))).toEqual([]);
    expect(toldBy(hl7(MSH("ORU^R40"), alarm("38")))).toEqual([]);
  });

  test("a lot that is the patient's number is left out, and so are words with the patient's name", () => {
    const records = (lot: string, words: string) => [
      ...["H|\\^&|||DCA VANTAGE^04^S1|||||||P||20261121113500", "P|1|4711|||Aydin^Zeytin", `O|1||7^${lot}`],
      ...["R|1|^^^HbA1c|5|%", `C|1|I|377^Calibration ${words}|I`, "L|1|N"],
    ];
    const dca = astmDevice("siemens-dca");
    expect(toldBy(readWith(dca, ...records("0099", "drift")))).toEqual([
      "reagent | 2026-11-21T08:35 | HbA1c | 0099",
      "calibration | 2026-11-21T08:35 | 377 | Calibration drift",
    ]);
    expect(toldBy(readWith(dca, ...records("4711", "of Zeytin")))).toEqual(["calibration | 2026-11-21T08:35 | 377"]);
  });
});
