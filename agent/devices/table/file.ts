import type { RecordText, ResultFiles } from "../../protocols/file/profile.ts";
import type { FileRecord, Layout } from "../../protocols/file/layouts/records.ts";
import { cellTimeReader, dateFormat, timeReader } from "../../protocols/file/layouts/time-format.ts";
import { stated, wordsByMark } from "./base.ts";
import type { FileProfileForm } from "./file-form.ts";
import { readPattern } from "./pattern.ts";
import type { Condition, SourceForm } from "./schema.ts";
import { conditionAt, sourceAt } from "./source.ts";

// A profile of the files of an analyzer from its file.

/** Extensions of the files of each kind. */
const EXTENSIONS = {
  csv: ["csv", "txt"],
  tsv: ["tsv", "txt"],
  xlsx: ["xlsx"],
  txt: ["txt"],
  xml: ["xml"],
} as const;
/** The extension of the documents that are kept with the studies. */
const DOCUMENT = "pdf";

const empty: RecordText = () => "";

/** @throws an Error that names what the form cannot mean */
export function fileProfile(form: FileProfileForm): ResultFiles {
  const { profile, device, file, sample, patient = {}, results, rows = [], analytes, doubts } = form;
  // A table without one of the named columns is another export, or one in another language.
  const places = new Set<string>();
  const at = (place: string) => {
    if (file.kind !== "txt" && file.kind !== "xml") places.add(place);
    return (record: FileRecord) => record.at(place);
  };
  const text = (source: SourceForm | undefined) => (source === undefined ? empty : sourceAt(source, at));
  const holds = (when: Condition | undefined, unless?: Condition) => conditionAt(when, unless, at);
  if (sample.number === undefined && patient.identifier === undefined && patient.name === undefined) {
    throw new Error("nothing names the sample, expected sample.number, patient.identifier or patient.name");
  }
  if (results.per === "column" && (file.kind === "txt" || file.kind === "xml")) {
    throw new Error(`results.per is column, expected row in a file of kind ${file.kind}`);
  }
  const kinds = rows.map(({ as, when, unless, reason = "the device gives no value" }) => {
    return { as, holds: holds(when, unless), reason };
  });
  const profileOf: ResultFiles = {
    id: profile,
    protocol: "file",
    link: { kind: "file", extensions: [...EXTENSIONS[file.kind], DOCUMENT] },
    content: "results",
    device_name: device.name,
    modality: device.modality ?? null,
    layout: layoutOf(file),
    places: [],
    sample: {
      number: text(sample.number),
      run: (sample.run ?? []).map(text),
      time: text(sample.time.at),
      readTime: file.kind === "xlsx" ? cellTimeReader(sample.time.format) : timeReader(sample.time.format),
      readDate: timeReader(dateFormat(sample.time.format)),
      format: sample.time.format,
      urine: sample.urine === undefined ? () => false : holds(sample.urine),
      comments: (sample.comments ?? []).map(text),
    },
    patient: Object.fromEntries(Object.entries(patient).map(([field, source]) => [field, text(source)])),
    results: resultsOf(results, text, at),
    rowKind: (record) => kinds.find((kind) => kind.holds(record)) ?? null,
    decimal: file.decimal ?? "auto",
    ...stated({ analytes, doubts: wordsByMark(doubts?.flags) }),
  };
  return { ...profileOf, places: [...places] };
}

function resultsOf(
  results: FileProfileForm["results"],
  text: (source: SourceForm | undefined) => RecordText,
  at: (place: string) => RecordText,
): ResultFiles["results"] {
  if (results.per === "column") {
    at(results.from);
    return { per: "column", from: results.from, except: results.except ?? [], unitIsNext: results.unit === "next" };
  }
  const { names, value, unit, range, flag } = results;
  const read = names.map((name) => text(name));
  return {
    per: "row",
    names: (record) => read.map((name) => name(record)),
    value: text(value),
    unit: text(unit),
    range: rangeOf(range, text),
    flag: text(flag),
  };
}

function rangeOf(
  range: Extract<FileProfileForm["results"], { readonly per: "row" }>["range"],
  text: (source: SourceForm | undefined) => RecordText,
): RecordText {
  if (typeof range !== "object" || !("low" in range)) return text(range);
  const [low, high] = [text(range.low), text(range.high)];
  return (record) => {
    const [from, to] = [low(record), high(record)];
    if (from !== "" && to !== "") return `${from}-${to}`;
    return from !== "" ? `>${from}` : to === "" ? "" : `<${to}`;
  };
}

function layoutOf(file: FileProfileForm["file"]): Layout {
  switch (file.kind) {
    case "csv":
    case "tsv":
    case "xlsx": {
      const { kind, header, separator = "auto", charset, grows = false } = file;
      return { kind, header: { within: 1, ...header }, separator, grows, ...stated({ charset }) };
    }
    case "txt": {
      const { kind, split, lines, charset } = file;
      const between = split === undefined ? null : readPattern(split);
      return {
        kind,
        isSplit: between === null ? null : (line) => between.test(line),
        lines: lines.map(({ as, pattern }) => {
          const groups = readPattern(pattern);
          return { as, read: (line) => groups.named(line) };
        }),
        ...stated({ charset }),
      };
    }
    case "xml":
      return { kind: "xml", records: file.records };
  }
}
