import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Compile } from "typebox/compile";
import { expect, test } from "vitest";
import { createLink } from "../../../agent/connection/create-link.ts";
import { profileById } from "../../../agent/devices/index.ts";
import type { Profile } from "../../../agent/devices/profile.ts";
import { encodeMllp } from "../../../agent/protocols/mllp.ts";
import { foldNumber } from "../../../agent/report/control.ts";
import type { ControlDraft, ReadContext, Reading, Report } from "../../../agent/report/report.ts";
import { wireOf } from "../../../agent/tools/offline/replay.ts";
import { read } from "../../../agent/study/read.ts";
import { ControlRun } from "../../../shared/api/quality.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { problems } from "../../../shared/schema/problems.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
import { fixedContext } from "../../support/protocols/wire.ts";

// Goal: nothing of a control is ever readable as a patient's result, in all messages of the fixtures and of the field captures. The
// captures are outside the repository; without them the fixtures are read alone.

interface Message {
  readonly name: string;
  readonly profile: Profile;
  readonly bytes: Uint8Array;
  readonly context: ReadContext;
}

const CAPTURE = /\.(astm|hl7|poct1|csv|txt|xml|xlsx)$/;
const context: ReadContext = {
  device: "fixture",
  timeZone: "Europe/Istanbul",
  receivedAt: Date.parse("2026-11-21T13:00:00.000Z"),
};

function delivered(name: string, bytes: Uint8Array, profile: Profile, own: ReadContext): Message[] {
  const link = createLink(profile, fixedContext);
  const whole = [...link.receive(bytes), ...link.close()].flatMap((action) =>
    action.do === "deliver" && action.incomplete === null ? [action.message] : [],
  );
  return whole.map((message) => ({ name, profile, bytes: message, context: own }));
}

async function ofFixtures(): Promise<Message[]> {
  const files = readdirSync(fixturesFolder, { recursive: true, encoding: "utf8" }).filter((file) => CAPTURE.test(file));
  const found = files.map(async (file) => {
    const golden = path.join(fixturesFolder, file.replace(CAPTURE, ".json"));
    const { profile: id, receivedAt } = JSON.parse(readFileSync(golden, "utf8")) as {
      profile: string;
      receivedAt: string;
    };
    const profile = profileById(id)!;
    const bytes = await wireOf(path.basename(file), readFileSync(path.join(fixturesFolder, file)), profile);
    return delivered(file, bytes, profile, { ...context, receivedAt: Date.parse(receivedAt) });
  });
  return (await Promise.all(found)).flat();
}

const captures = fileURLToPath(new URL("../../../../shared/captures/", import.meta.url));
/** The profile of a capture, by the beginning of its name. */
const PROFILES: Readonly<Record<string, string>> = {
  ...{
    "abaxis-vetscan-vs2": "abaxis-vetscan-vs2",
    "bionote-vcheck": "bionote-vcheck",
    "biosystems-ba400": "biosystems-ba",
  },
  ...{ "boule-exigo": "boule-exigo", dymind: "dymind-df", "edan-h30": "edan-h30", "mindray-bc2": "mindray-bc" },
  ...{ "mindray-bc5": "mindray-bc", "mindray-bs": "mindray-bs", "siemens-clinitek": "siemens-clinitek" },
  ...{ "urit-5160": "urit-5160", "sysmex-xp": "generic-astm", cobas: "generic-astm", vitros: "vitros" },
  ...{ "transasia-em200": "transasia-em200", "fuji-nx600__type-4": "fuji-dri-chem-nx-hl7" },
};

function ofCaptures(): Message[] {
  if (!existsSync(captures)) {
    process.stdout.write(`controls-stay-apart.test.ts reads the fixtures alone: there is no ${captures}\n`);
    return [];
  }
  const files = ["astm", "hl7"].flatMap((folder) =>
    readdirSync(`${captures}${folder}`).map((file) => `${folder}/${file}`),
  );
  return files.flatMap((file) => {
    const [, id] = Object.entries(PROFILES).find(([name]) => path.basename(file).startsWith(name)) ?? [];
    if (id === undefined || !/\.(raw|hl7)$/.test(file) || file.includes("bc2800")) return [];
    const logged = readFileSync(`${captures}${file}`);
    const text = logged[0] === 0x0b ? logged.subarray(1) : logged;
    const session = logged[0] === 0x05 ? logged : Buffer.concat([Buffer.from("\x05"), logged, Buffer.from("\x04")]);
    return delivered(file, file.startsWith("hl7") ? encodeMllp(text) : session, profileById(id)!, context);
  });
}

const messages = [...(await ofFixtures()), ...ofCaptures()];
const controlRun = Compile(ControlRun);

function readAs({ bytes, profile, context: own }: Message, changes: Partial<ReadContext> = {}): Reading {
  return read(bytes, profile, { ...own, ...changes });
}

function reportsIn(reading: Reading): readonly Report[] {
  return reading.is === "reports" ? reading.reports : reading.is === "quarantined" ? (reading.withdrawals ?? []) : [];
}

function controlsIn(reading: Reading): readonly ControlDraft[] {
  return reading.controls ?? [];
}

/** Analyte and text of each row, in order. */
function rowsIn(reports: readonly Report[]): string[] {
  return reports.flatMap(({ rows }) => rows.map(({ code, text }) => `${code} ${text}`)).toSorted();
}

function resultsIn(controls: readonly ControlDraft[]): string[] {
  return controls.flatMap(({ results }) => results.map(({ analyte, text }) => `${analyte} ${text}`)).toSorted();
}

test("the fixtures have messages of patients, of controls, and of both", () => {
  const readings = messages.map((message) => readAs(message));
  const both = readings.filter((reading) => reportsIn(reading).length > 0 && controlsIn(reading).length > 0);
  expect(readings.filter((reading) => reportsIn(reading).length > 0).length).toBeGreaterThan(150);
  expect(readings.filter((reading) => controlsIn(reading).length > 0).length).toBeGreaterThan(25);
  expect(both.length).toBeGreaterThan(5);
});

test("no value of a control is a row of a patient's report, and each run is one that the server takes", () => {
  for (const message of messages) {
    const reading = readAs(message);
    const results = new Set(resultsIn(controlsIn(reading)));
    expect([message.name, rowsIn(reportsIn(reading)).filter((row) => results.has(row))]).toEqual([message.name, []]);
    for (const draft of controlsIn(reading)) {
      const run = { ...draft, fp: newFp("control"), source: { device_id: "fixture" } };
      expect([message.name, problems(controlRun, run)]).toEqual([message.name, []]);
    }
  }
});

test("no run has a text about an animal", () => {
  for (const message of messages) {
    const reading = readAs(message);
    const animals = reportsIn(reading).flatMap(({ patient_hint: { name, owner, identifier } }) => [
      name,
      owner,
      identifier,
    ]);
    const names = controlsIn(reading).map(({ material, level, lot, sample_ids, comments }) => {
      return [material, level, lot, sample_ids, comments];
    });
    const texts = JSON.stringify(names);
    expect([message.name, animals.filter((text) => text !== null && texts.includes(`"${text}"`))]).toEqual([
      message.name,
      [],
    ]);
  }
});

/** Writes a field of each segment or record with this name. MSH-1 is the separator. */
function withField(bytes: Uint8Array, name: string, field: number, text: string): Uint8Array {
  const lines = Buffer.from(bytes)
    .toString("latin1")
    .split(/(?<=[\r\n])/);
  const header = lines.find((line) => /^(?:MSH|H)\W/.test(line)) ?? "";
  const separator = header[name === "H" || /^H\W/.test(header) ? 1 : 3] ?? "|";
  const changed = lines.map((line) => {
    const [, body = "", end = ""] = /^(.*?)([\r\n]*)$/s.exec(line) ?? [];
    const fields = body.split(separator);
    if (fields[0] !== name) return line;
    const at = name === "MSH" ? field - 1 : name.length === 1 ? field - 1 : field;
    while (fields.length <= at) fields.push("");
    fields[at] = text;
    return fields.join(separator) + end;
  });
  return Buffer.from(changed.join(""), "latin1");
}

/** A role of the specimen in OBR-15, in the delimiters of the message. */
function roleOf(bytes: Uint8Array): string {
  const component = /MSH.(.)/s.exec(Buffer.from(bytes).toString("latin1"))?.[1] ?? "^";
  return `${component.repeat(6)}Q`;
}

/** The ways in which a device marks a run as a control. */
const MARKS: readonly (readonly [string, "hl7" | "astm", (message: Message) => Uint8Array])[] = [
  ["MSH-11 Q", "hl7", ({ bytes }) => withField(bytes, "MSH", 11, "Q")],
  ["MSH-16 2", "hl7", ({ bytes }) => withField(bytes, "MSH", 16, "2")],
  ["SPM-11 Q, or OBR-15", "hl7", ({ bytes }) => withField(withField(bytes, "SPM", 11, "Q"), "OBR", 15, roleOf(bytes))],
  ["O-12 Q", "astm", ({ bytes }) => withField(bytes, "O", 12, "Q")],
  ["H-12 Q", "astm", ({ bytes, profile }) => withField(bytes, "H", processingField(profile), "Q")],
];

function processingField(profile: Profile): number {
  return (profile.protocol === "astm" ? profile.fields?.processing : undefined) ?? 12;
}

test.each(MARKS)(
  "%s turns all rows of a patient's message into a control and leaves no study",
  (_mark, protocol, marked) => {
    const patients = messages.filter(
      (message) => message.profile.protocol === protocol && readAs(message).is === "reports" && hasOrders(message),
    );
    expect(patients.length).toBeGreaterThan(20);
    for (const message of patients) {
      const before = readAs(message);
      const after = readAs({ ...message, bytes: marked(message) });
      expect([message.name, after.is, reportsIn(after).length]).toEqual([message.name, "not-for-patients", 0]);
      const results = resultsIn(controlsIn(after));
      const lost = [...rowsIn(reportsIn(before)), ...resultsIn(controlsIn(before))].filter(
        (row) => !results.includes(row),
      );
      expect([message.name, lost]).toEqual([message.name, []]);
    }
  },
);

/** Whether each result has an order, or a specimen, that can be marked. */
function hasOrders({ bytes, profile }: Message): boolean {
  const text = Buffer.from(bytes).toString("latin1");
  return profile.protocol === "hl7" ? /[\r\n](?:OBR|SPM)\W/.test(text) : /[\r\n]O\W/.test(text);
}

test("a number that the clinic uses for controls turns all rows into a control, by every profile", () => {
  const protocols = new Set<string>();
  for (const message of messages) {
    const before = readAs(message);
    const numbers = reportsIn(before).map(({ identifier, sampleIds = [] }) => identifier ?? sampleIds[0]);
    if (before.is !== "reports" || numbers.some((number) => number === undefined)) continue;
    protocols.add(message.profile.protocol);
    const typed = numbers.map((number) => foldNumber(number!.toLowerCase()));
    const after = readAs(message, { controls: new Set(typed) });
    expect([message.name, reportsIn(after)]).toEqual([message.name, []]);
    expect([message.name, resultsIn(controlsIn(after))]).toEqual([
      message.name,
      [...rowsIn(reportsIn(before)), ...resultsIn(controlsIn(before))].toSorted(),
    ]);
  }
  expect([...protocols].toSorted()).toEqual(["astm", "file", "hl7", "poct1a", "text"]);
});
