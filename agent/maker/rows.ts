import type { Measurement } from "../../shared/clinical/results.ts";
import { analyteByCode } from "../../shared/clinical/analytes/analytes.ts";
import type {
  AnalyteName,
  MakerNode,
  MakerResult,
  MakerRow,
  MakerSample,
  MessageView,
  RoleNode,
} from "../page/types/maker.ts";
import type { Profile } from "../devices/profile.ts";
import type { ProfileForm } from "../devices/table/schema.ts";
import { conditionOf } from "../devices/table/source.ts";
import type { ReadContext, Reading, Report } from "../report/report.ts";
import { readDate } from "../report/device-time.ts";
import { read } from "../study/read.ts";
import { placesOf } from "./roles.ts";
import { nodeAt } from "./tree.ts";

// A draft reads a message, with the nodes that each text came from. The agent's own reader reads; a row is found by reading the
// message with that row alone.

/** The record of results, and those that may follow it and belong to it. */
const ROW = { hl7: { record: "OBX", note: "NTE" }, astm: { record: "R", note: "C" } } as const;

export interface Reader {
  readonly form: ProfileForm;
  readonly profile: Profile;
  readonly context: ReadContext;
}

/** Reads a message by the draft's profile. */
export function viewOf(bytes: Uint8Array, tree: MakerNode, reader: Reader): MessageView {
  const reading = read(bytes, reader.profile, reader.context);
  const plain = plainView(reading);
  const rows = rowsOf(bytes, tree, reader, reading);
  return { ...plain, rows, nodes: plain.sample === null ? [] : sampleNodes(tree, reader.form, plain.sample) };
}

/** Shows a reading without the nodes that it came from. */
export function plainView(reading: Reading): MessageView {
  if (reading.is !== "reports") {
    return { sample: null, reason: reading.reason, rows: [], nodes: [], unread: [], notes: [] };
  }
  const { reports } = reading;
  const [first] = reports;
  const rows = measured(reading).map(withoutRecord);
  const notes = [...new Set(reports.flatMap((report) => [...report.leftOut, ...report.notes]))];
  return {
    sample: first === undefined ? null : sampleOf(first),
    ...{ reason: null, rows, nodes: [], unread: first?.patient_hint.other ?? [], notes },
  };
}

function sampleOf({ patient_hint: hint, ...report }: Report): MakerSample {
  return {
    ...{ identifier: report.identifier, name: hint.name, owner: hint.owner, species: hint.species, sex: hint.sex },
    ...{ born: hint.date_of_birth, sample: report.sampleIds ?? [], time: report.acquired_at },
    ...{ device: report.device_name, modality: report.modality },
  };
}

/** Returns the rows of a reading. */
export function measured(reading: Reading): readonly Measurement[] {
  return reading.is === "reports" ? reading.reports.flatMap(({ rows }) => rows) : [];
}

/** Max rows that are read alone, while devices wait. Further ones are shown without their records. */
const ROWS_ALONE_MAX = 2000;

function rowsOf(bytes: Uint8Array, tree: MakerNode, reader: Reader, whole: Reading): MakerRow[] {
  const protocol = protocolOf(reader.form);
  const left = [...measured(whole)];
  const rules = rulesOf(reader.form);
  const rows = rowsAlone(tree, protocol)
    .slice(0, ROWS_ALONE_MAX)
    .flatMap((of): MakerRow[] => {
      const { row: index } = of;
      const node = tree.children[index]!;
      const alone = read(messageWith(bytes, tree, of, protocol), reader.profile, reader.context);
      // The message as a whole decides: another row may have replaced this one.
      const found = measured(alone).map((row) => take(left, row) ?? row);
      const common = { record: index, rule: rules(node), code: codeOf(node, reader.form) };
      if (found.length === 0) {
        const nodes = rowNodes(node, index, reader.form, null);
        return [{ ...common, result: null, reason: reasonOf(alone), nodes }];
      }
      return found.map((row) => {
        return { ...common, result: resultOf(row), reason: null, nodes: rowNodes(node, index, reader.form, row) };
      });
    });
  return [...rows, ...left.map(withoutRecord)];
}

function withoutRecord(row: Measurement): MakerRow {
  return { record: null, rule: null, code: "", result: resultOf(row), reason: null, nodes: [] };
}

function protocolOf({ protocol }: ProfileForm): keyof typeof ROW {
  return protocol === "astm" ? "astm" : "hl7";
}

/** Takes the equal row of the complete message out of the list. */
function take(rows: Measurement[], row: Measurement): Measurement | null {
  const at = rows.findIndex(({ code, device_code, text }) => {
    return code === row.code && device_code === row.device_code && text === row.text;
  });
  return at < 0 ? null : (rows.splice(at, 1)[0] ?? null);
}

function reasonOf(reading: Reading): string | null {
  if (reading.is !== "reports") return reading.reason;
  return reading.reports.flatMap(({ leftOut, notes }) => [...leftOut, ...notes]).join("; ") || null;
}

/** @returns null for a code outside the catalogue */
export function analyteName(code: string): AnalyteName | null {
  const analyte = analyteByCode(code);
  return analyte === undefined ? null : { en: analyte.name, tr: analyte.name_tr };
}

function resultOf({
  code,
  codeSource,
  device_label,
  text,
  unit,
  device_range,
  device_flag,
  comment,
}: Measurement): MakerResult {
  const analyte = codeSource === "device" ? null : analyteName(code);
  const range = device_range?.text ?? null;
  return { code, label: device_label ?? null, analyte, text, unit, range, flag: device_flag, comment: comment ?? null };
}

/** A row with the records that a message of this row alone has. */
interface RowAlone {
  readonly row: number;
  /** Its header, patient, order and what describes these. */
  readonly context: readonly number[];
  readonly notes: readonly number[];
}

const HEADS = {
  hl7: { patient: "PID", order: "OBR", specimen: "SPM" },
  astm: { patient: "P", order: "O", specimen: "" },
} as const;

function rowsAlone(tree: MakerNode, protocol: keyof typeof ROW): RowAlone[] {
  const { record, note } = ROW[protocol];
  const { patient, order, specimen } = HEADS[protocol];
  const rows: RowAlone[] = [];
  const last = { patient: [] as number[], specimen: [] as number[] };
  let context = [0];
  let notes: number[] | null = null;
  for (const [index, { place }] of tree.children.entries()) {
    if (place === patient) {
      last.patient = [index];
      last.specimen = [];
      context = [0, index];
    } else if (place === order) {
      context = [0, ...last.patient, ...last.specimen, index];
    } else if (place === record) {
      notes = [];
      rows.push({ row: index, context, notes });
      continue;
    } else if (place === note && notes !== null) {
      notes.push(index);
      continue;
    } else if (index > 0) {
      if (place === specimen) last.specimen = [index];
      // A segment after a row describes its order too.
      context.push(index);
    }
    notes = null;
  }
  return rows;
}

function messageWith(
  bytes: Uint8Array,
  tree: MakerNode,
  { row, context, notes }: RowAlone,
  protocol: keyof typeof ROW,
): Uint8Array {
  const records = [...context, row, ...notes]
    .toSorted((one, other) => one - other)
    .map((index) => tree.children[index]!);
  const parts = records.map(({ from, to }) => bytes.subarray(from, to));
  const isEnded = protocol === "hl7" || records.at(-1)?.place === "L";
  const end = isEnded ? [] : [Buffer.from("L|1|N".replaceAll("|", fieldOf(bytes, tree.children[0]!)))];
  return Buffer.concat([...parts, ...end].flatMap((part) => [part, CR]));
}

const CR = Buffer.from("\r");

/** The separator that the header declares. */
function fieldOf(bytes: Uint8Array, header: MakerNode): string {
  return String.fromCharCode(bytes[header.from + 1] ?? 0x7c);
}

/** Returns the rule of `rows` that a record meets first. */
function rulesOf({ rows = [], protocol }: ProfileForm): (record: MakerNode) => number | null {
  const name = protocol === "hl7" ? "OBX" : "R";
  const rules = rows.map(({ when, unless }) => conditionOf(when, unless, [name]));
  return (record) => {
    const fields = {
      field: (number: number) => nodeAt(record, `${name}-${number}`)?.text ?? "",
      component: (number: number, part: number) => nodeAt(record, `${name}-${number}.${part}`)?.text ?? "",
      raw: (number: number) => nodeAt(record, `${name}-${number}`)?.text ?? "",
    };
    const found = rules.findIndex((holds) => holds({ [name]: fields }));
    return found < 0 ? null : found;
  };
}

type Places = Readonly<Record<string, readonly string[]>>;

/** The places of the texts of a row in the standards. */
const ROW_PLACES: Readonly<Record<keyof typeof ROW, Places>> = {
  hl7: {
    code: ["OBX-3.2", "OBX-3.1", "OBX-4.1"],
    value: ["OBX-5"],
    unit: ["OBX-6.1", "OBX-6"],
    range: ["OBX-7"],
    flag: ["OBX-8"],
    status: ["OBX-11"],
  },
  astm: {
    code: ["R-3.4", "R-3.5", "R-3.2", "R-3.1"],
    value: ["R-4"],
    unit: ["R-5"],
    range: ["R-6"],
    flag: ["R-7"],
    status: ["R-9"],
  },
};

const PATIENT_PLACES: Readonly<Record<keyof typeof ROW, Places>> = {
  hl7: {
    identifier: ["PID-3.1", "PID-2.1", "PID-4.1"],
    name: ["PID-5.2", "PID-5.1"],
    owner: ["PID-5.1"],
    species: ["PID-35.2", "PID-35.1"],
    sex: ["PID-8.1"],
    born: ["PID-7.1"],
    sample: ["OBR-2", "OBR-3", "OBR-2.1", "OBR-3.1", "SPM-2", "SAC-3"],
    time: ["OBX-19", "OBX-14", "OBR-7", "OBR-22", "MSH-7"],
  },
  astm: {
    identifier: ["P-3", "P-4", "P-5"],
    name: ["P-6.2", "P-6.1", "P-6"],
    owner: ["P-6.1"],
    sex: ["P-9"],
    born: ["P-8"],
    sample: ["O-3", "O-3.1", "O-4"],
    time: ["R-13", "R-12", "O-8", "O-7", "H-14"],
  },
};

/** Returns the places of a role: those of the profile, then those of the standard. */
function candidates(own: unknown, standard: readonly string[] | undefined): string[] {
  return [...new Set([...placesOf(own), ...(standard ?? [])])];
}

/** The text by which a record without a result is named. */
function codeOf(record: MakerNode, form: ProfileForm): string {
  const place = protocolOf(form) === "hl7" ? "OBX-3" : "R-3";
  return nodeAt(record, place)?.text.trim() ?? "";
}

function rowNodes(record: MakerNode, index: number, form: ProfileForm, row: Measurement | null): RoleNode[] {
  const standard = ROW_PLACES[protocolOf(form)];
  const { names, value, unit, range } = form.results ?? {};
  const own: Readonly<Record<string, unknown>> = { code: names, value, unit, range };
  return Object.entries(standard).flatMap(([role, places]) => {
    const found = candidates(own[role], places)
      .map((place) => nodeAt(record, place))
      .filter((node) => node !== null && node.text.trim() !== "");
    // The code that is shown, else the first name.
    const wanted = role === "code" ? (row?.device_code ?? null) : null;
    const node = found.find((each) => each?.text.trim() === wanted) ?? found[0];
    return node == null ? [] : [roleNode(role, node, index)];
  });
}

function roleNode(role: string, { place, from, to }: MakerNode, record: number): RoleNode {
  return { role, place, record, from, to };
}

/** Finds the nodes whose texts the sample has. A row of the species, and a time, are found by their places alone. */
function sampleNodes(tree: MakerNode, form: ProfileForm, sample: MakerSample): RoleNode[] {
  const standard = PATIENT_PLACES[protocolOf(form)];
  const own: Readonly<Record<string, unknown>> = {
    ...form.patient,
    sample: form.sample?.number,
    time: form.sample?.time,
  };
  const texts: Readonly<Record<string, readonly (string | null)[]>> = { ...mapped(sample), sample: sample.sample };
  const isRead = (role: string, text: string) => {
    if (role === "time") return true;
    if (role === "born") return sample.born !== null && readDate(text) === sample.born;
    return (texts[role] ?? []).some((each) => each !== null && text.includes(each));
  };
  return Object.entries(standard).flatMap(([role, places]) => {
    for (const place of candidates(own[role], places)) {
      const at = tree.children.findIndex((record) => record.place === place.split("-")[0]);
      const node = at < 0 ? null : nodeAt(tree.children[at]!, place);
      const text = node?.text.trim() ?? "";
      if (node !== null && text !== "" && isRead(role, text)) return [roleNode(role, node, at)];
    }
    return [];
  });
}

function mapped({ identifier, name, owner, species, sex }: MakerSample): Record<string, readonly (string | null)[]> {
  return { identifier: [identifier], name: [name], owner: [owner], species: [species], sex: [sex] };
}
