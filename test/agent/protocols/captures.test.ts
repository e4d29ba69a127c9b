import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { encodeFrame } from "../../../agent/protocols/astm/frame.ts";
import { ETX } from "../../../agent/protocols/bytes.ts";
import { fujiDriChemNx } from "../../../agent/devices/text/fuji-dri-chem-nx.ts";
import { profiles } from "../../../agent/devices/index.ts";
import { mindrayBc2800Vet, mindrayBc2800VetOneWay } from "../../../agent/devices/text/mindray-bc2800vet.ts";
import type { Profile } from "../../../agent/devices/profile.ts";
import { encodeMllp } from "../../../agent/protocols/mllp.ts";
import { read } from "../../../agent/study/read.ts";
import { type Replay, replay, type ReplayedMessage } from "../../../agent/tools/offline/replay.ts";
import { dog } from "../../support/runner/fixtures.ts";
import { context, only, reportsOf } from "../records.ts";
import { astmDevice, hl7Device, textDevice } from "../../support/clinic/profiles.ts";

const bionoteVcheck = hl7Device("bionote-vcheck");
const mindrayBs = hl7Device("mindray-bs");
const genericAstm = astmDevice("generic-astm");
const genericAstmRaw = astmDevice("generic-astm-raw");
const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");
const dymindDf = hl7Device("dymind-df");
const genericHl7 = hl7Device("generic-hl7");
const mindrayBc = hl7Device("mindray-bc");
const arkraySpotchemEz = textDevice("arkray-spotchem-ez");
const skyla = astmDevice("skyla");

// Cross-check with captures of real devices. They are outside the repository; without them the tests are skipped.

const folder = fileURLToPath(new URL("../../../../shared/captures/astm/", import.meta.url));
const present = existsSync(folder);
if (!present) process.stdout.write(`captures.test.ts is skipped: there is no ${folder}\n`);

const ENQ = "\x05";
const EOT = "\x04";

function capture(name: string): Buffer {
  return readFileSync(join(folder, name));
}

/** Adds ENQ and EOT, which some captures lack. */
function session(bytes: Buffer): Buffer {
  return bytes[0] === 0x05 ? bytes : Buffer.concat([Buffer.from(ENQ), bytes, Buffer.from(EOT)]);
}

function play(bytes: Uint8Array, profile: Profile): Replay {
  return replay([bytes], profile, context, dog);
}

function messageOf({ messages }: Replay): ReplayedMessage {
  return only(messages);
}

/** Returns the texts of the frames, each with its CR. */
function texts(bytes: Buffer): string[] {
  const frames = bytes.toString("latin1").split("\x02").slice(1);
  return frames.map((frame) => frame.slice(1).split("\x03", 1)[0] ?? "");
}

/** Replaces bytes in the frames, with new checksums. */
function reframed(bytes: Buffer, change: (text: string) => string): Buffer {
  const frames = texts(bytes).map((text, index) => encodeFrame(index + 1, Buffer.from(change(text), "latin1"), ETX));
  return Buffer.concat([Buffer.from(ENQ), ...frames, Buffer.from(EOT)]);
}

/** Returns code, value and unit of each R record. */
function printed(bytes: Buffer): string[][] {
  return texts(bytes)
    .flatMap((text) => text.split("\r"))
    .filter((line) => line.startsWith("R|"))
    .map((line) => line.split("|").slice(2, 5));
}

describe.skipIf(!present)("field captures", () => {
  const vetscan = "abaxis-vetscan-vs2__dog-demo-and-qc.raw";

  test("VetScan's demo run is acknowledged frame by frame and not for patients", () => {
    const played = play(capture(vetscan), abaxisVetscanVs2);
    expect(played.replies).toBe("<ACK>".repeat(28));
    expect(messageOf(played).reading).toEqual({ is: "not-for-patients", reason: "demo or debug (H-12 is D)" });
  });

  test("the VetScan run as production has the printed rows without its QC order", () => {
    const production = reframed(capture(vetscan), (text) => text.replace("|D|E 1394", "|P|E 1394"));
    const message = messageOf(play(production, abaxisVetscanVs2));
    const report = only(reportsOf(message.reading));
    const ofPatient = printed(capture(vetscan)).filter(([code = ""]) => !code.includes("IQC"));
    expect(report.rows.map(({ text, unit }) => [text, unit])).toEqual(
      ofPatient.map(([, value, unit]) => [value, unit]),
    );
    expect(report.rows.map(({ code }) => code)).toEqual(["ALT", "GLU", "BUN", "CREA", "NA", "K", "TCO2"]);
    expect(report).toMatchObject({
      identifier: "22222",
      otherIdentifiers: ["44444", "33333"],
      species: "dog",
      unmapped: [],
      leftOut: [],
    });
    expect(message.studies.flatMap(({ results }) => results.map(({ flag }) => flag))).toEqual(Array(7).fill("normal"));
    expect(message.reading).toMatchObject({ notes: ["order 2 is quality control: not for a patient"] });
  });

  test("VetScan's sign-on makes no study", () => {
    const message = messageOf(play(capture("abaxis-vetscan-vs2__sign-on.raw"), abaxisVetscanVs2));
    expect(message.reading).toEqual({
      is: "not-for-patients",
      reason: "no results (sign-on or status)",
      events: [expect.objectContaining({ event: "start", text: "Power Up Initialization Sign On" })],
    });
  });

  test("Sysmex XP: component 5 codes and padded values give one hematology study", () => {
    const bytes = capture("sysmex-xp100__one-frame.raw");
    const message = messageOf(play(session(bytes), genericAstm));
    const report = only(reportsOf(message.reading));
    expect(report).toMatchObject({
      modality: "HEMATOLOGY",
      device_name: "XP-100",
      identifier: null,
      unmapped: [],
      leftOut: [],
    });
    expect(report.rows.map(({ code }) => code)).toEqual(expect.arrayContaining(["MID", "MIDP"]));
    expect(report.rows.map(({ value, text }) => [value, text])).toEqual(
      printed(bytes).map(([, value = ""]) => [Number(value), value.trim()]),
    );
    expect(report.rows.every(({ unit }) => unit !== null)).toBe(true);
  });

  test.each([
    ["cobas-c311__one-frame.raw", 7],
    ["cobas-e411__joined-frames.raw", 7],
  ])("%s: the laboratory's test numbers are %i rows of the device's code", (file, count) => {
    const bytes = capture(file);
    const { rows, leftOut } = only(reportsOf(messageOf(play(session(bytes), genericAstm)).reading));
    expect([rows.length, leftOut]).toEqual([count, []]);
    expect(rows.every(({ codeSource }) => codeSource === "device")).toBe(true);
  });

  test("VITROS: numeric codes are rows of the device's code, and its host query is detected", () => {
    const results = play(capture("vitros-3600__results.raw"), genericAstm);
    expect(results.replies).toBe("<ACK>".repeat(8));
    const { rows } = only(reportsOf(messageOf(results).reading));
    expect(rows.map(({ code, codeSource }) => [code, codeSource])).toEqual(
      ["950", "951", "952"].map((index) => [`1.0000+${index}+1.0`, "device"]),
    );
    const query = play(capture("vitros-3600__host-query.raw"), genericAstm);
    expect(messageOf(query).reading).toEqual({ is: "not-for-patients", reason: "host query" });
  });

  test("Skyla: patient, owner, species and weight are read from shifted fields", () => {
    const bytes = capture("skyla-solution__liver-panel-records.txt");
    const report = only(reportsOf(read(bytes, skyla, context)));
    expect(report).toMatchObject({
      device_name: "Skyla",
      identifier: "BBB",
      species: "dog",
      patient_hint: { name: "金城武", owner: "OwnerName", species: "Canine", sex: "M", weight_kg: 16 },
      acquired_at: "2022-03-08T06:22:41.000Z",
      unmapped: [],
      leftOut: [],
      // The capture is read years after it was taken.
      notes: ["the device's clock is suspect: 2022-03-08T06:22:41.000Z"],
    });
    expect(report.rows.map(({ code, text, unit, device_range }) => [code, text, unit, device_range?.text])).toEqual([
      ["ALB", "3.0", "g/dL", "2.3-4.0"],
      ["ALT", "35", "U/L", "10-100"],
    ]);
  });

  test.each([
    ["mindray-bc2800vet__handshake-on.raw", mindrayBc2800Vet, "<ACK><ACK>"],
    ["mindray-bc2800vet__handshake-off.raw", mindrayBc2800VetOneWay, ""],
  ])("%s has the values of the device's print-out", (file, profile, replies) => {
    const played = play(capture(file), profile);
    expect([played.replies, played.warnings]).toEqual([replies, []]);
    const report = only(reportsOf(messageOf(played).reading));
    const printedOut = { WBC: 27.4, RBC: 5.82, HGB: 135, HCT: 42.2, RDW: 14.6, PLT: 430 }; // hemoglobin 13.5 g/dL
    const shown = report.rows.filter(({ code }) => code in printedOut).map(({ code, value }) => [code, value]);
    expect(Object.fromEntries(shown)).toEqual(printedOut);
    expect(report.rows.find(({ code }) => code === "HGB")?.unit).toBe("g/L");
    expect(report).toMatchObject({
      identifier: "00002007",
      species: "dog",
      acquired_at: "2026-09-12T10:21:00.000Z",
      unmapped: [],
      leftOut: [],
    });
  });

  test("SPOTCHEM EZ: values, units and marks are read, and the value below range has no unit", () => {
    const report = only(
      reportsOf(messageOf(play(capture("arkray-spotchem-ez__multi-panel.raw"), arkraySpotchemEz)).reading),
    );
    expect(report).toMatchObject({
      identifier: "0223",
      acquired_at: "2017-03-30T17:23:00.000Z",
      unmapped: [],
      leftOut: [],
    });
    expect(
      report.rows.map(({ code, value, comparator, unit, device_flag }) => [code, value, comparator, unit, device_flag]),
    ).toEqual([
      ["BUN", 7.4, null, "mmol/L", null],
      ["GLU", 6.4, null, "mmol/L", null],
      ["ALP", 0.83, "<", null, null],
      ["TP", 82, null, "g/L", "H"],
      ["ALT", 1.36, null, "ukat/L", null],
      ["CREA", 152, null, "umol/L", null],
    ]);
  });

  test("DRI-CHEM NX: three slides are read, with the day before the month", () => {
    const report = only(
      reportsOf(messageOf(play(capture("fuji-dri-chem-nx__three-slides.raw"), fujiDriChemNx)).reading),
    );
    expect(report).toMatchObject({
      identifier: "10260052",
      acquired_at: "2025-04-07T09:07:00.000Z",
      unmapped: [],
      leftOut: [],
    });
    expect(report.rows.map(({ code, value, unit, device_range }) => [code, value, unit, device_range])).toEqual([
      ["CHOL", 4.53, "mmol/L", null],
      ["MG", 0.84, "mmol/L", null],
      ["CA", 2.39, "mmol/L", null],
    ]);
  });

  test("no capture with a sender is filed by another vendor's profile", () => {
    // The EM-200 sends no name of itself.
    const files = readdirSync(folder).filter((file) => !file.startsWith("transasia"));
    expect(files.length).toBeGreaterThanOrEqual(11);
    for (const profile of profiles.filter(({ id }) => !id.startsWith("generic-"))) {
      const vendor = profile.id.split("-")[0] ?? "";
      // A device that several vendors sell has the name of its layout after the model.
      for (const file of files.filter((name) => !name.startsWith(vendor) && !name.includes(`__${vendor}`))) {
        for (const bytes of [capture(file), session(capture(file))]) {
          expect(play(bytes, profile).messages.filter(({ reading }) => reading.is === "reports")).toEqual([]);
        }
      }
    }
  });

  test("no capture of a proprietary layout is filed by a generic profile", () => {
    for (const file of readdirSync(folder).filter((name) => /^(arkray|fuji|mindray)-/.test(name))) {
      for (const profile of [genericAstm, genericAstmRaw]) {
        expect(play(session(capture(file)), profile).messages.flatMap(({ studies }) => studies)).toEqual([]);
      }
    }
  });
});

const hl7Folder = join(folder, "../hl7/");
const hl7Present = existsSync(hl7Folder);

/** Adds the frames, which the captures lack. */
function framedHl7(name: string): Uint8Array {
  const logged = readFileSync(join(hl7Folder, name));
  return encodeMllp(logged[0] === 0x0b ? logged.subarray(1) : logged);
}

/** Returns code and name, value and unit of each OBX. */
function printedObx(name: string): string[][] {
  return readFileSync(join(hl7Folder, name), "utf8")
    .split(/\r+/)
    .filter((line) => line.startsWith("OBX|"))
    .map((line) => line.split("|"))
    .map((fields) => [fields[3] ?? "", fields[5] ?? "", fields[6] ?? ""]);
}

describe.skipIf(!hl7Present)("HL7 field captures", () => {
  const bc5380 = "mindray-bc5380__histograms.hl7";
  const dymind = "dymind-df5x__invalid-values.hl7";

  test("BC-5380: every row with an analyte has the printed value and unit, and the rest is listed", () => {
    const played = play(framedHl7(bc5380), mindrayBc);
    expect(played.warnings).toEqual([]);
    expect(played.replies).toMatch(/ACK\^R01.*<CR>MSA\|AA\|87\|Message accepted\|\|\|0<CR><FS><CR>$/);
    const report = only(reportsOf(messageOf(played).reading));
    expect(report).toMatchObject({
      device_name: "BC-5380",
      modality: "HEMATOLOGY",
      identifier: null,
      species: null,
      acquired_at: "2021-02-02T12:13:39.000Z",
      unmapped: [],
      leftOut: [],
    });
    const isMeasured = (code: string) => !/^(0\d{4}|15\d{3}|17790-7|34165-1)\^/.test(code);
    const measured = printedObx(bc5380).filter(([code = ""]) => isMeasured(code));
    expect(report.rows.map(({ text }) => text)).toEqual(measured.map(([, value]) => value));
    expect(report.rows).toHaveLength(27);
    expect(report.rows.find(({ code }) => code === "HCT")).toMatchObject({ value: 0.431, unit: "L/L" });
    expect(report.rows.find(({ code }) => code === "MCHC")).toMatchObject({
      value: 31.9,
      unit: "g/dL",
      device_flag: "L",
    });
    expect(report.rows.find(({ code }) => code === "BASO")).toMatchObject({ value: 0.03, device_flag: "N A" });
    expect(report.comments).toContain("WBC Left Shift?: T");
    expect(report.notes).toContain("kept in the message, not read: WBC Histogram. Binary, PLT Histogram. Binary");
  });

  test("Dymind DF5x: an invalid value gives no row and is listed with its reason", () => {
    const report = only(reportsOf(messageOf(play(framedHl7(dymind), dymindDf)).reading));
    expect(report.rows.map(({ code, value, device_flag }) => [code, value, device_flag])).toEqual([
      ["WBC", 0.01, "L A"],
      ["RBC", 0, "L A"],
      ["HGB", 0, "L A"],
      ["HCT", 0, "L A"],
      ["PLT", 0, "L A"],
    ]);
    expect(report.leftOut).toHaveLength(6);
    expect(report).toMatchObject({ device_name: "DF5x", unmapped: [], acquired_at: "2024-10-24T12:24:27.000Z" });
  });

  test("Vcheck V200: one CA, the device's code, the bracketed range and the note as a remark", () => {
    const played = play(framedHl7("bionote-vcheck-v200__canine-crp.hl7"), bionoteVcheck);
    expect(played.replies.match(/<VT>/g)).toHaveLength(1);
    expect(played.replies).toContain("MSA|CA|{a127593b-8705-46f4-8bf9-5e35cad3f360}|");
    const report = only(reportsOf(messageOf(played).reading));
    expect(only(report.rows)).toMatchObject({
      code: "CRP",
      value: 16.7,
      unit: "mg/L",
      device_range: { low: 10, high: 200, text: "10.00-200.00" },
    });
    expect(report).toMatchObject({
      device_name: "Bionote Vcheck",
      identifier: null,
      acquired_at: "2017-06-28T11:37:52.000Z",
      unmapped: [],
    });
    expect(report.comments).toContain("Canine CRP: Interpretation=Normal");
  });

  test("BS-200E: the name is matched instead of the test number, and control gives no study", () => {
    const one = messageOf(play(framedHl7("mindray-bs200e__one-test.hl7"), mindrayBs));
    expect(only(only(reportsOf(one.reading)).rows)).toMatchObject({ code: "test2", codeSource: "device" });
    const control = messageOf(play(framedHl7("mindray-bs200__qc.hl7"), mindrayBs));
    expect(control.reading).toMatchObject({
      is: "not-for-patients",
      reason: "quality control (MSH-16 is 2)",
      controls: [
        {
          ...{ material: "CTRL-Normal", level: "M", lot: "LOT-2025-001", expires: "2026-01-01" },
          results: [{ analyte: "GLU", value: 98.2, unit: "mg/dL", target: { mean: 100, sd: 3.5 } }],
        },
      ],
    });
  });

  test("no capture with a sender is filed by another vendor's profile, and no control by the generic one", () => {
    const isNamed = (file: string) => !/^MSH\|[^|]*\|\|\|/.test(readFileSync(join(hl7Folder, file), "latin1").trim());
    const files = readdirSync(hl7Folder).filter((file) => file.endsWith(".hl7") && isNamed(file));
    expect(files.length).toBeGreaterThanOrEqual(5);
    const studiesOf = (file: string, profile: Profile) =>
      play(framedHl7(file), profile).messages.flatMap(({ studies }) => studies);
    const senders = [mindrayBc, dymindDf, mindrayBs, bionoteVcheck];
    for (const profile of senders) {
      const vendor = profile.id.split("-")[0] ?? "";
      const others = files.filter((file) => !file.startsWith(vendor));
      expect(others.flatMap((file) => studiesOf(file, profile))).toEqual([]);
    }
    expect(studiesOf("mindray-bs200__qc.hl7", genericHl7)).toEqual([]);
    expect(studiesOf(bc5380, genericHl7)).toHaveLength(1);
  });
});
