import type { ProfileForm } from "./schema.ts";
import { type Condition, type SourceForm, TEXT } from "./source.ts";

// Every place and pattern of a form with its path, so that a problem has its line.

export type Protocol = ProfileForm["protocol"];

export interface Part {
  readonly steps: readonly string[];
  readonly is: "place" | "pattern";
  readonly written: string;
  /** Records or segments that a place may be of; or one place alone, such as `OBX-3`. */
  readonly records: readonly string[];
}

/** Records of a protocol by the part of a form that reads them. */
interface Readable {
  readonly person: readonly string[];
  readonly specimen: readonly string[];
  readonly row: readonly string[];
}

const READABLE: Readonly<Record<Protocol, Readable>> = {
  astm: { person: ["P"], specimen: ["O"], row: ["R"] },
  hl7: { person: ["PID", "PV1", "OBR"], specimen: ["OBR"], row: ["OBX"] },
  text: { person: [TEXT], specimen: [TEXT], row: [TEXT] },
};

/** Kinds of rows that the reader of HL7 recognises by their name alone. */
const BY_NAME: ReadonlySet<string> = new Set(["species", "remark", "note"]);

/** Returns the places and patterns of a form. */
export function partsOf(form: ProfileForm): Part[] {
  const { person, specimen, row } = READABLE[form.protocol];
  const { recognize = {}, patient = {}, sample = {}, results = {}, doubts = {}, controls = {} } = form;
  const { name, lot } = form.reagent ?? {};
  const isHl7 = form.protocol === "hl7";
  return [
    ...(["sender", "notSender", "marks"] as const).flatMap((key) => pattern(["recognize", key], recognize[key])),
    ...layoutParts(form),
    ...(["identifier", "owner", "species", "sex", "born"] as const).flatMap((key) =>
      source(["patient", key], patient[key], person),
    ),
    ...source(["patient", "name"], patient.name, form.protocol === "astm" ? specimen : person),
    ...source(["sample", "time"], sample.time, specimen),
    ...source(["sample", "number"], sample.number, specimen),
    ...(sample.urine === true ? [] : condition(["sample", "urine"], sample.urine, row)),
    ...(sample.comments ?? []).flatMap(({ at }, index) =>
      source(["sample", "comments", String(index), "at"], at, specimen),
    ),
    ...source(["reagent", "name"], name, [...specimen, ...row]),
    ...source(["reagent", "lot"], lot, [...specimen, ...row]),
    ...(results.names ?? []).flatMap((each, index) => source(["results", "names", String(index)], each, row)),
    ...pattern(["results", "namesMatch"], results.namesMatch),
    ...pattern(["results", "split"], results.split),
    ...(["unit", "value", "flag", "range"] as const).flatMap((key) => source(["results", key], results[key], row)),
    ...pattern(["results", "note", "value"], results.note?.value),
    ...pattern(["results", "note", "unit"], results.note?.unit),
    ...conditions(["results", "comment"], results.comment ?? {}, row),
    ...words(["results", "comment", "words"], results.comment?.words, row),
    ...(doubts.when ?? []).flatMap((rule, index) => {
      const steps = ["doubts", "when", String(index)];
      const said = form.protocol === TEXT ? words([...steps, "words"], rule.words, row) : [];
      return [...pattern([...steps, "flag"], rule.flag), ...conditions(steps, rule, row), ...said];
    }),
    ...(form.rows ?? []).flatMap((rule, index) => {
      const steps = ["rows", String(index)];
      const records = isHl7 && BY_NAME.has(rule.as) ? ["OBX-3"] : row;
      return [...conditions(steps, rule, records), ...words([...steps, "reason"], rule.reason, row)];
    }),
    ...(typeof controls.order === "string"
      ? pattern(["controls", "order"], controls.order)
      : conditions(["controls", "order"], controls.order ?? {}, isHl7 ? ["OBR-4"] : specimen)),
    ...pattern(["controls", "patientProcessing"], controls.patientProcessing),
    ...(["material", "level", "lot", "expires"] as const).flatMap((key) =>
      source(["controls", key], controls[key], isHl7 ? ["PID", "OBR"] : ["P", "O"]),
    ),
    ...(["mean", "sd"] as const).flatMap((key) =>
      source(["controls", "target", key], controls.target?.[key], ["OBR", "OBX"]),
    ),
    ...(["name", "value", "unit"] as const).flatMap((key) =>
      source(["controls", "inOrder", key], controls.inOrder?.[key], ["OBR"]),
    ),
    ...(form.collect?.number === "barcode" ? [] : pattern(["collect", "number"], form.collect?.number)),
    ...pattern(["orders", "tests", "pattern"], form.orders?.tests?.pattern),
  ];
}

function layoutParts({ text = [] }: ProfileForm): Part[] {
  return text.flatMap((layout, index) => {
    const steps = ["text", String(index)];
    return [
      ...pattern([...steps, "begins"], layout.begins),
      ...pattern([...steps, "first", "pattern"], layout.first?.pattern),
      ...pattern([...steps, "last", "pattern"], layout.last?.pattern),
      ...layout.lines.flatMap((rule, line) => {
        const at = [...steps, "lines", String(line)];
        return [...pattern([...at, "pattern"], rule.pattern), ...conditions(at, rule, [TEXT])];
      }),
    ];
  });
}

/** The plain texts of a source: units and analytes that the profile itself writes. */
export function constantsOf(
  form: SourceForm | undefined,
  steps: readonly string[],
): { steps: readonly string[]; text: string }[] {
  if (form === undefined || typeof form === "string") return [];
  if (Array.isArray(form)) return form.flatMap((each, index) => constantsOf(each, [...steps, String(index)]));
  const mapped = Object.entries(form.map ?? {}).map(([key, text]) => ({ steps: [...steps, "map", key], text }));
  return [...(form.is === undefined ? [] : [{ steps: [...steps, "is"], text: form.is }]), ...mapped];
}

function pattern(steps: readonly string[], written: string | undefined): Part[] {
  return written === undefined ? [] : [{ steps, is: "pattern", written, records: [] }];
}

function place(steps: readonly string[], written: string, records: readonly string[]): Part {
  return { steps, is: "place", written, records };
}

function source(steps: readonly string[], form: SourceForm | undefined, records: readonly string[]): Part[] {
  if (form === undefined || form === "none") return [];
  if (typeof form === "string") return [place(steps, form, records)];
  if (Array.isArray(form)) return form.flatMap((each, index) => source([...steps, String(index)], each, records));
  return [
    ...(form.at === undefined ? [] : [place([...steps, "at"], form.at, records)]),
    ...pattern([...steps, "match"], form.match),
    ...pattern([...steps, "drop"], form.drop),
    ...conditions(steps, form, records),
  ];
}

interface Conditions {
  readonly when?: Condition;
  readonly unless?: Condition;
}

function conditions(steps: readonly string[], { when, unless }: Conditions, records: readonly string[]): Part[] {
  return [...condition([...steps, "when"], when, records), ...condition([...steps, "unless"], unless, records)];
}

function condition(steps: readonly string[], form: Condition | undefined, records: readonly string[]): Part[] {
  if (form === undefined) return [];
  if (Array.isArray(form)) return form.flatMap((each, index) => condition([...steps, String(index)], each, records));
  return Object.entries(form).flatMap(([key, written]) => [
    place([...steps, key], key, records),
    ...(written === "empty" ? [] : pattern([...steps, key], written)),
  ]);
}

/** Places in braces. */
function words(steps: readonly string[], text: string | undefined, records: readonly string[]): Part[] {
  return [...(text ?? "").matchAll(/\{([^}]+)\}/g)].map(([, written = ""]) => place(steps, written, records));
}
