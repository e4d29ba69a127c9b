import { createHash } from "node:crypto";
import { foldName } from "../../../shared/clinical/analytes/analytes.ts";
import { readDate, readTime } from "../../report/device-time.ts";
import type { DeviceResult } from "../../report/report.ts";
import type { Sample } from "../../report/sample.ts";
import { hintText } from "../../report/specimen.ts";
import { controlName, identifier as identifierOf } from "../field-text.ts";
import { isRunRow, saysCalibration } from "../remarks.ts";
import { certainValue, type DecimalSigns, decimalSigns } from "./layouts/decimals.ts";
import type { ResultFiles } from "./profile.ts";
import { columnAt, columnName, type FileRecord } from "./layouts/records.ts";

// The samples of a file. A result is known by its sample, its test and its time, so that a file that grows brings each one once.

export interface FileSamples {
  readonly samples: readonly Sample[];
  /** Records without a patient's result, each with its reason. */
  readonly notes: readonly string[];
  /** Records of control material, each with its reason. */
  readonly controls: readonly string[];
}

type Head = Pick<Sample, "patient" | "specimen" | "patient_hint" | "identifier"> & {
  readonly number: string;
  readonly time: string;
};

interface OpenSample {
  readonly head: Head;
  readonly isControl: boolean;
  /** Results by the folded name of the test. A later one takes the place of an earlier one. */
  readonly results: Map<string, DeviceResult>;
  readonly settings: string[];
  readonly notes: string[];
  readonly comments: Set<string>;
  urine: boolean;
}

export function fileSamples(
  records: readonly FileRecord[],
  profile: ResultFiles,
  hasPointDecimals: boolean,
): FileSamples {
  const found = new Map<string, OpenSample>();
  const notes: string[] = [];
  const controls: string[] = [];
  const signs = decimalSigns(
    profile.decimal,
    hasPointDecimals,
    records.flatMap((record) => resultsOf(record, profile).map(({ value }) => value)),
  );
  for (const record of records) {
    const kind = profile.rowKind(record);
    const head = headOf(record, profile);
    if (kind?.as === "control") controls.push(`${record.where} is a control`);
    if (typeof head === "string") {
      if (kind?.as !== "control") notes.push(head);
      continue;
    }
    const named = kind?.as === "control" ? null : controlName(head.patient.slice(0, 1), [head.number]);
    if (named !== null) controls.push(`${record.where} is a control (${head.number || head.patient[0]})`);
    const isControl = kind?.as === "control" || named !== null;
    if (saysCalibration(named ?? "")) continue;
    const key = JSON.stringify([head.patient, head.specimen, head.time, ...(isControl ? ["control"] : [])]);
    const sample = found.get(key) ?? openSample(head, isControl);
    found.set(key, sample);
    addTo(sample, record, kind, profile, signs);
  }
  return { samples: [...found.values()].map((sample) => closed(sample, profile)), notes, controls };
}

function openSample(head: Head, isControl: boolean): OpenSample {
  return { head, isControl, results: new Map(), settings: [], notes: [], comments: new Set(), urine: false };
}

/** Reads whose sample a record is of, or why that is unknown. */
function headOf(record: FileRecord, { sample, patient, results }: ResultFiles): Head | string {
  const written = sample.time(record);
  const time = sample.readTime(written);
  if (time === null || readTime(time, "UTC") === null) {
    return `${record.where}: ${JSON.stringify(written.slice(0, 40))} is not a time in the format ${sample.format}`;
  }
  const text = (field: keyof typeof patient) => patient[field]?.(record) ?? "";
  const number = sample.number(record);
  const [identifier, name, owner] = [identifierOf(text("identifier")), text("name"), text("owner")];
  const run = sample.run.map((part) => part(record)).filter((part) => part !== "");
  const isNamed = number !== "" || identifier !== "" || name !== "";
  return {
    number,
    time,
    identifier: hintText(identifier),
    // Two owners may each have a Pamuk on one day.
    patient: identifier !== "" ? [identifier] : name === "" || owner === "" ? [name] : [name, owner],
    // Several runs without a patient within a minute stay apart, also if a later file has more of them.
    specimen: run.length > 0 ? run : [number, ...(isNamed || results.per === "row" ? [] : [digestOf(record)])],
    patient_hint: {
      identifier: hintText(identifier),
      name: hintText(name),
      species: hintText(text("species")),
      breed: hintText(text("breed")),
      sex: hintText(text("sex")),
      owner: hintText(owner),
      date_of_birth: readDate(sample.readDate(text("born")) ?? sample.readTime(text("born")) ?? text("born")),
      weight_kg: null,
    },
  };
}

function digestOf({ columns }: FileRecord): string {
  return createHash("sha256").update(JSON.stringify(columns)).digest("hex").slice(0, 16);
}

function addTo(
  sample: OpenSample,
  record: FileRecord,
  kind: ReturnType<ResultFiles["rowKind"]>,
  profile: ResultFiles,
  signs: DecimalSigns,
): void {
  sample.urine ||= profile.sample.urine(record);
  for (const comment of profile.sample.comments) {
    const text = comment(record);
    if (text !== "") sample.comments.add(text);
  }
  for (const result of resultsOf(record, profile)) {
    const label = result.names[0] ?? "";
    if (kind?.as === "remark" || isRunRow(label, result.names)) {
      sample.settings.push(`${label}: ${result.value}`);
      continue;
    }
    const withheld = kind?.as === "no-result" ? kind.reason : null;
    const read = certainValue(result.value, signs);
    const doubt = profile.doubts?.[result.flag];
    const row: DeviceResult = {
      ...result,
      ...("value" in read ? { value: read.value } : {}),
      notFinal: withheld ?? ("doubt" in read ? read.doubt : null),
      ...(doubt === undefined ? {} : { doubt }),
    };
    const test = foldName(label);
    const earlier = sample.results.get(test);
    if (earlier !== undefined && earlier.value !== row.value) {
      sample.notes.push(`${label} is there twice: ${row.value} in ${record.where} counts, not ${earlier.value}`);
    }
    sample.results.set(test, row);
  }
}

/** Returns the results of a record as the file writes them. An empty cell of a run is a test that was not done. */
function resultsOf(record: FileRecord, { results, analytes = {} }: ResultFiles): DeviceResult[] {
  const named = (names: readonly string[]) => {
    const known = names.map((name) => analytes[name]).find((code) => code !== undefined);
    return {
      names: known === undefined ? names : [known, ...names],
      ...(names[0] === undefined ? {} : { code: names[0] }),
    };
  };
  if (results.per === "row") {
    const [value, unit, range, flag] = [results.value, results.unit, results.range, results.flag].map((read) =>
      read(record),
    );
    const names = results.names(record).filter((name) => name !== "");
    return [{ ...named(names), value: value!, unit: unit!, range: range!, flag: flag!, notFinal: null }];
  }
  const { from, except, unitIsNext } = results;
  const columns = record.columns.map(({ name }) => columnName(name));
  const first = columnAt(columns, from);
  const others = new Set(except.map((place) => columnAt(columns, place)));
  return record.columns.flatMap(({ name, text }, index) => {
    if (index < first || name === "" || text === "" || others.has(index)) return [];
    const next = record.columns[index + 1];
    const unit = unitIsNext && next?.name === "" ? next.text : "";
    return [{ ...named([name]), value: text, unit, range: "", flag: "", notFinal: null }];
  });
}

function closed(sample: OpenSample, { device_name }: ResultFiles): Sample {
  const { head, isControl, results, settings, notes, comments, urine } = sample;
  const { number, time, ...named } = head;
  return {
    ...named,
    device_name,
    otherIdentifiers: number === "" ? [] : [number],
    sampleIds: [number],
    times: { results: [time], order: [], sent: "" },
    ...(isControl ? { control: {} } : {}),
    urine,
    results: [...results.values()],
    settings,
    notes,
    comments: [...comments],
  };
}
