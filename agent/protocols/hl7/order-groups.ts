import type { DeviceResult, ReadContext } from "../../report/report.ts";
import { firstTime } from "../../report/specimen.ts";
import { filled, given, sent } from "../field-text.ts";
import { controlNotes, controlOf } from "./control.ts";
import type { Hl7Message } from "./message/message.ts";
import { kindOf, type ObservationRow, valueOf } from "./observation.ts";
import type { Hl7Profile } from "./profile.ts";
import type { Segment } from "./message/segment.ts";

// Groups of segments: the orders of one sample with their results. Orders that are neither of a patient nor of control material are
// left out.

/** Max notes of one patient; each of its samples repeats them. Further notes are dropped. */
const PATIENT_NOTES_MAX = 100;

/** Orders of one sample of one patient, or of control material, with their results. */
export interface OrderGroup {
  readonly isControl: boolean;
  readonly patient: Segment | null;
  /** PV1 of the patient. */
  readonly visit: Segment | null;
  readonly order: Segment | null;
  readonly specimen: Segment | null;
  readonly container: Segment | null;
  readonly rows: ObservationRow[];
  /** Results in the OBR itself. */
  readonly inOrder: DeviceResult[];
  readonly comments: string[];
}

/**
 * Groups the segments of a message by its structure. `notes`: orders and specimens that are not for a patient. `isControl`: the
 * message has no patient's results, but a control's.
 */
export function collectGroups(
  { segments }: Hl7Message,
  profile: Hl7Profile,
  context: ReadContext,
  isControl = false,
): { groups: OrderGroup[]; notes: string[] } {
  const collector = new GroupCollector(segments, profile, context, isControl);
  for (const [index, segment] of segments.entries()) collector.add(segment, index);
  return { groups: collector.groups, notes: collector.notes };
}

/** Reads segments in order: OBX belongs to the last OBR, OBR to the last PID, NTE to the last segment. */
class GroupCollector {
  readonly #segments: readonly Segment[];
  readonly #profile: Hl7Profile;
  readonly #context: ReadContext;
  /** OUL^R22 has the specimen before its orders, ORU^R01 and OUL^R24 after each. */
  readonly #isSpecimenFirst: boolean;
  /** Header, patients, specimens and orders with notes of quality control. */
  readonly #controls: ReadonlyMap<Segment | null, boolean>;
  readonly #isAllControl: boolean;
  readonly #groups = new Map<string, OrderGroup>();
  readonly notes: string[] = [];
  #patients = 0;
  #patient: Segment | null = null;
  #visit: Segment | null = null;
  #order: Segment | null = null;
  #specimen: Segment | null = null;
  #container: Segment | null = null;
  /** Group of the last OBX or NTE; null after a PID, SPM or OBR. */
  #current: OrderGroup | null = null;
  /** The current order is of a patient, of control material, or of neither. */
  #kind: "patient" | "control" | "neither" = "patient";
  #patientNotes: string[] = [];

  constructor(segments: readonly Segment[], profile: Hl7Profile, context: ReadContext, isAllControl: boolean) {
    this.#isAllControl = isAllControl;
    this.#segments = segments;
    this.#profile = profile;
    this.#context = context;
    const position = (name: string) => segments.findIndex((segment) => segment.name === name);
    this.#isSpecimenFirst = position("SPM") >= 0 && position("SPM") < position("OBR");
    this.#controls = controlNotes(segments, this.#isSpecimenFirst, profile);
    this.#beginOrder();
  }

  get groups(): OrderGroup[] {
    return [...this.#groups.values()];
  }

  add(segment: Segment, index: number): void {
    switch (segment.name) {
      case "PID":
        this.#patient = segment;
        this.#patients += 1;
        this.#visit = this.#order = this.#specimen = this.#container = null;
        this.#patientNotes = [];
        this.#beginOrder();
        break;
      case "PV1":
        this.#visit = segment;
        break;
      case "SPM":
        if (!this.#isSpecimenFirst) break;
        this.#specimen = segment;
        this.#order = null;
        this.#container = following(this.#segments, index, "SAC");
        this.#beginOrder();
        break;
      case "OBR":
        this.#order = segment;
        if (!this.#isSpecimenFirst) {
          this.#specimen = following(this.#segments, index, "SPM");
          this.#container = following(this.#segments, index, "SAC");
        }
        this.#beginOrder();
        break;
      case "OBX":
        if (this.#kind !== "neither") this.#addRow(segment);
        break;
      case "NTE":
        this.#addNote(filled(segment.repetitions(3), " ").join(" "));
        break;
      default:
        break;
    }
  }

  #beginOrder(): void {
    this.#current = null;
    const segments = {
      header: this.#segments[0] ?? null,
      patient: this.#patient,
      order: this.#order,
      specimen: this.#specimen,
      container: this.#container,
    };
    const noted = Object.values(segments).map((segment) => this.#controls.get(segment));
    const control = noted.some((found) => found !== undefined)
      ? { reason: "a note says quality control: not for a patient", isControl: noted.includes(true) }
      : controlOf(segments, this.#profile);
    const isPatients = control === null && !this.#isAllControl;
    this.#kind = isPatients ? "patient" : (control?.isControl ?? true) ? "control" : "neither";
    if (control !== null && this.notes.at(-1) !== control.reason) this.notes.push(control.reason);
    const inOrder = this.#profile.control?.inOrder;
    const result = this.#kind === "control" && this.#order !== null ? (inOrder?.(this.#order) ?? null) : null;
    if (result !== null) this.#group().inOrder.push(result);
  }

  #addRow(obx: Segment): void {
    const { rows } = this.#group();
    const before = this.#profile.commentRows?.test(obx.field(3)) === true ? rows.at(-1) : undefined;
    const isControl = this.#kind === "control";
    if (before === undefined) rows.push({ obx, is: kindOf(obx, this.#profile, isControl), notes: [] });
    else before.notes.push(valueOf(obx));
  }

  #addNote(text: string): void {
    if (this.#kind === "neither" || text === "") return;
    if (this.#current === null && this.#order === null) {
      this.#patientNotes = [...this.#patientNotes, text].slice(0, PATIENT_NOTES_MAX);
      return;
    }
    const group = this.#group();
    (group.rows.at(-1)?.notes ?? group.comments).push(text);
  }

  #group(): OrderGroup {
    if (this.#current !== null) return this.#current;
    // Orders of one tube at one time are one study, though many analyzers send an OBR per test. A PID without any
    // identifier is a patient of its own.
    const [patient, order, specimen, container] = [this.#patient, this.#order, this.#specimen, this.#container];
    const named = [2, 3, 4].map((field) => sent(patient, field));
    const patientKey = named.some((field) => field !== "") ? named.join("|") : this.#patients;
    const time = firstTime(orderTimes(order, specimen, this.#profile), this.#context) ?? "";
    const isControl = this.#kind === "control";
    const kind = [sent(specimen, 4), isUrine(order, specimen), ...(isControl ? ["control", sent(order, 4)] : [])];
    const key = [patientKey, ...specimenIds(order, specimen, container), time, ...kind].join("|");
    const comments = isControl ? [] : [...this.#patientNotes];
    this.#current = this.#groups.get(key) ?? {
      isControl,
      patient,
      visit: this.#visit,
      order,
      specimen,
      container,
      ...{ rows: [], inOrder: [] },
      comments,
    };
    this.#groups.set(key, this.#current);
    return this.#current;
  }
}

/** Returns the segment of this name that belongs to the order or specimen at `index`. */
function following(segments: readonly Segment[], index: number, name: string): Segment | null {
  const own = segments[index]?.name ?? "";
  for (let at = index + 1; at < segments.length; at++) {
    const segment = segments[at]!;
    if (segment.name === name) return segment;
    if (segment.name === own || segment.name === "PID") break;
  }
  return null;
}

/**
 * The profile's time of the run, OBR-7 observed, SPM-17 collected, OBR-14 received, OBR-6 requested. Words in place of a time are
 * left out.
 */
export function orderTimes(order: Segment | null, specimen: Segment | null, { runTime }: Hl7Profile): string[] {
  const observed = [...(runTime === undefined ? [] : [runTime]), 7].map((field) => order?.component(field, 1));
  return [...observed, specimen?.component(17, 1), order?.component(14, 1), order?.component(6, 1)].map((time = "") =>
    /\d/.test(time) ? given(time) : "",
  );
}

/** OBR-15 and SPM-4, specimen type: `UR^Urine^HL70487`, `WB^Whole blood`, `serum`. */
const URINE = /^(u|ur|urine?)$/i;
const BLOOD = /^(ser(um)?|plas(ma)?|wb|bld[acv]?|(whole )?blood)$/i;

export function isUrine(order: Segment | null, specimen: Segment | null): boolean {
  return specimenWords(order, specimen).some((word) => URINE.test(word));
}

/** Returns whether the order or its specimen declares blood, and neither declares urine. */
export function isBlood(order: Segment | null, specimen: Segment | null): boolean {
  return !isUrine(order, specimen) && specimenWords(order, specimen).some((word) => BLOOD.test(word));
}

function specimenWords(order: Segment | null, specimen: Segment | null): string[] {
  return [...(specimen?.components(4) ?? []), ...(order?.subcomponents(15, 1) ?? [])].map(given);
}

/**
 * Returns the placer's and filler's number (OBR-2, OBR-3), and those of specimen and container (SPM-2, SAC-3), as sent.
 */
export function specimenIds(order: Segment | null, specimen: Segment | null, container: Segment | null): string[] {
  return [sent(order, 2), sent(order, 3), sent(specimen, 2), sent(container, 3)];
}
