import { readValue } from "../../../shared/clinical/analytes/value.ts";
import type { ControlPlaces, Hl7Profile, PatientFields } from "../../protocols/hl7/profile.ts";
import type { Segment } from "../../protocols/hl7/message/segment.ts";
import type { OrderFormat } from "../../protocols/hl7/order-format.ts";
import type { DeviceResult } from "../../report/report.ts";
import { withHl7Capabilities } from "../capabilities/capabilities.ts";
import { baseOf, materialOf, namesOf, stated, wordsByMark } from "./base.ts";
import { readPattern } from "./pattern.ts";
import type { ProfileForm } from "./schema.ts";
import { conditionOf, patternAt, type Records, type Source, sourceOf, wordsOf, type SourceForm } from "./source.ts";

// A profile of HL7 v2 from its file.

export function hl7Profile(form: ProfileForm): Hl7Profile {
  const { device, sample = {}, results = {}, analytes, flags, doubts = {}, statuses, rows = [] } = form;
  const { controls = {}, collect } = form;
  const names = namesOf(results, ["OBX"]);
  const rowsAs = (kind: string) => {
    return patternAt(
      "OBX-3",
      rows.filter(({ as }) => as === kind).map(({ when, unless }) => [when, unless]),
    );
  };
  const finals = Object.entries(statuses ?? {}).filter(([, meaning]) => meaning === "final");
  const profile: Hl7Profile = {
    protocol: "hl7",
    link: { kind: "mllp" },
    ...baseOf(form),
    ...stated({
      defaultName: device.default,
      patientProcessing: controls.patientProcessing === undefined ? undefined : readPattern(controls.patientProcessing),
      notForPatients: orderPattern(controls.order),
      controlWithoutPatient: controls.withoutPatient,
      controlLot: controls.expiredLot,
      control: controlOf(controls),
      runTime: fieldOf(sample.time),
      sampleField: fieldOf(sample.number),
      comments: commentsOf(sample.comments),
      code: names && ((obx) => names({ OBX: obx })),
      ...{ analytes, flags },
      patient: patientOf(form.patient),
      speciesRow: rowsAs("species"),
      remarks: rowsAs("remark"),
      commentRows: rowsAs("note"),
      withheld: withheldOf(rows),
      results: resultsOf(form),
      nullIsEmpty: results.nullIsEmpty,
      noteValue: noteValueOf(results.note),
      finalStatuses: finals.length === 0 ? undefined : { test: (status) => finals.some(([final]) => final === status) },
      doubts: wordsByMark(doubts.flags),
      orders: ordersOf(form.orders),
      collectHours: collect?.hours,
      collectSingles: collect?.singles,
    } satisfies { [Key in keyof Hl7Profile]?: Hl7Profile[Key] | undefined }),
  };
  return withHl7Capabilities(profile, form.capabilities ?? []);
}

/** Returns the number of a field of the OBR, such as 22 of `OBR-22`. */
function fieldOf(place: SourceForm | undefined): number | undefined {
  return typeof place === "string" ? Number(place.replace("OBR-", "")) : undefined;
}

function orderPattern(order: NonNullable<ProfileForm["controls"]>["order"]) {
  if (order === undefined || typeof order === "string") return order === undefined ? undefined : readPattern(order);
  return patternAt("OBR-4", [[order.when, order.unless]]);
}

type Controls = NonNullable<ProfileForm["controls"]>;

/** The places of a device's control material; undefined without one of them. */
function controlOf(controls: Controls): Hl7Profile["control"] {
  const material = materialOf(controls, ["PID", "OBR"]);
  const target = controls.target === undefined ? undefined : targetOf(controls.target);
  const inOrder = controls.inOrder === undefined ? undefined : inOrderOf(controls.inOrder, target);
  if (material === undefined && target === undefined && inOrder === undefined) return undefined;
  return {
    material: (segments) => material?.({ ...segments }) ?? {},
    ...(target === undefined ? {} : { target }),
    ...(inOrder === undefined ? {} : { inOrder }),
  };
}

function targetOf({ mean, sd }: NonNullable<Controls["target"]>): NonNullable<ControlPlaces["target"]> {
  const [meanAt, sdAt] = [mean, sd].map((form) => sourceOf(form, ["OBR", "OBX"])) as [Source, Source];
  return (segments) => {
    const [printedMean, printedSd] = [meanAt, sdAt].map((source) =>
      readValue(source(segments), { decimalComma: true }),
    );
    if (printedMean?.is !== "number") return null;
    const hasSd = printedSd?.is === "number" && printedSd.value > 0;
    // Some models print the patients' range in the same place, `6.0-17.0`.
    if (hasSd && printedSd.value >= Math.abs(printedMean.value)) return null;
    return { mean: printedMean.value, ...(hasSd ? { sd: printedSd.value } : {}) };
  };
}

function inOrderOf(
  { name, value, unit }: NonNullable<Controls["inOrder"]>,
  target: ControlPlaces["target"],
): NonNullable<ControlPlaces["inOrder"]> {
  const [nameAt, valueAt, unitAt] = [name, value, unit].map((form) => sourceOf(form, ["OBR"])) as [
    Source,
    Source,
    Source,
  ];
  return (order) => {
    const test = nameAt({ OBR: order });
    if (test === "" || valueAt({ OBR: order }) === "") return null;
    const printed = target?.({ OBR: order });
    return {
      names: [test],
      value: valueAt({ OBR: order }),
      unit: unitAt({ OBR: order }),
      ...{ range: "", flag: "", notFinal: null },
      ...(printed == null ? {} : { target: printed }),
    };
  };
}

function commentsOf(comments: NonNullable<ProfileForm["sample"]>["comments"]): Hl7Profile["comments"] {
  if (comments === undefined) return undefined;
  const sources = comments.map(({ at, split, as = "{text}" }) => ({ read: sourceOf(at, ["OBR"]), split, as }));
  return (obr) =>
    sources.flatMap(({ read, split, as }) => {
      const text = read({ OBR: obr });
      const parts = split === undefined ? [text] : splitAt(text, split);
      return parts.map((part) => as.replace("{text}", () => part));
    });
}

/** Splits a text at any of the characters. */
function splitAt(text: string, characters: string): string[] {
  return characters.split("").reduce((parts, each) => parts.flatMap((part) => part.split(each)), [text]);
}

const PATIENT_SEGMENTS = ["PID", "PV1", "OBR"];

function patientOf(patient: ProfileForm["patient"]): Hl7Profile["patient"] {
  if (patient === undefined) return undefined;
  const { species, ...others } = patient;
  const sources = Object.entries(others).map(([name, form]) => [name, sourceOf(form, PATIENT_SEGMENTS)] as const);
  const speciesOf = species === undefined || species === "none" ? null : sourceOf(species, PATIENT_SEGMENTS);
  return (segments) => {
    const records: Records = { ...segments };
    const fields = Object.fromEntries(sources.map(([name, source]) => [name, source(records)])) as PatientFields;
    if (species === "none") return { ...fields, species: null };
    return speciesOf === null ? fields : { ...fields, species: speciesOf(records) };
  };
}

function noteValueOf(note: NonNullable<ProfileForm["results"]>["note"]): Hl7Profile["noteValue"] {
  if (note === undefined) return undefined;
  const [valuePattern, unitPattern] = [readPattern(note.value), readPattern(note.unit)];
  return (text) => {
    const [value, unit] = [valuePattern.found(text), unitPattern.found(text)];
    return value === null || unit === null ? null : { value, unit };
  };
}

type Row = NonNullable<ProfileForm["rows"]>[number];

function withheldOf(rows: readonly Row[]): Hl7Profile["withheld"] {
  const withheld = rows
    .filter(({ as }) => as === "no-result")
    .map(({ when, unless, reason = "the device gives no value" }) => {
      return { holds: conditionOf(when, unless, ["OBX"]), reason: wordsOf(reason, ["OBX"]) };
    });
  if (withheld.length === 0) return undefined;
  return (obx) => withheld.find(({ holds }) => holds({ OBX: obx }))?.reason({ OBX: obx }) ?? "";
}

/** Makes the changes to a result that its row asks for; undefined without any. */
function resultsOf({ results = {}, doubts = {}, rows = [] }: ProfileForm): Hl7Profile["results"] {
  const steps = [
    valueStep(results.value),
    splitStep(results.split),
    rangeStep(results.range),
    unitStep(results.unit),
    ...(doubts.when ?? []).map(doubtStep),
  ].filter((step) => step !== null);
  const data = rows.filter(({ as }) => as === "data").map(({ when, unless }) => conditionOf(when, unless, ["OBX"]));
  if (steps.length === 0 && data.length === 0) return undefined;
  return (result, obx) => {
    if (data.some((holds) => holds({ OBX: obx }))) return [];
    return [steps.reduce((changed, step) => step(changed, obx), result)];
  };
}

type DoubtRule = NonNullable<NonNullable<ProfileForm["doubts"]>["when"]>[number];
type Step = (result: DeviceResult, obx: Segment) => DeviceResult;

function valueStep(place: SourceForm | undefined): Step | null {
  if (place === undefined) return null;
  const source = sourceOf(place, ["OBX"]);
  return (result, obx) => (result.value === "" ? { ...result, value: source({ OBX: obx }), range: "" } : result);
}

function splitStep(pattern: string | undefined): Step | null {
  if (pattern === undefined) return null;
  const parts = readPattern(pattern);
  return (result) => {
    const [value, unit] = [1, 2].map((index) => parts.group(result.value, index)) as [string | null, string | null];
    return value === null || unit === null ? result : { ...result, value, unit: result.unit || unit };
  };
}

function rangeStep(form: NonNullable<ProfileForm["results"]>["range"]): Step | null {
  if (form === undefined) return null;
  const source = sourceOf(form, ["OBX"]);
  return (result, obx) => ({ ...result, range: source({ OBX: obx }) });
}

function unitStep(form: NonNullable<ProfileForm["results"]>["unit"]): Step | null {
  if (form === undefined) return null;
  const source = sourceOf(form, ["OBX"]);
  return (result, obx) => ({ ...result, unit: source({ OBX: obx }) });
}

function doubtStep({ flag, when, unless, words }: DoubtRule): Step {
  const marks = flag === undefined ? null : readPattern(flag);
  const holds = conditionOf(when, unless, ["OBX"]);
  return (result, obx) => {
    const isDoubted = holds({ OBX: obx }) && (marks?.test(result.flag) ?? true);
    return isDoubted ? { ...result, doubt: words } : result;
  };
}

function ordersOf(orders: ProfileForm["orders"]): OrderFormat | undefined {
  if (orders === undefined) return undefined;
  const { tests, ...others } = orders;
  return {
    ...(others as OrderFormat),
    ...(tests === undefined ? {} : { tests: { example: tests.example, pattern: readPattern(tests.pattern) } }),
  };
}
