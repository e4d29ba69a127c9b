import { currencies, eventStatuses, eventTypes, modalities } from "./shapes.ts";

// The data of the checked server: the lines of an import file, with fixed fps. The checks compare responses with it. The
// texts of the other clinic's records contain "Foreign".

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Kind = "clinic" | "user" | "customer" | "patient" | "soap" | "cds" | "calevt" | "invitem";

/** An fp that is the same in each run. */
export function fixedFp(kind: Kind, number: number): string {
  return `${kind}_01K9C0NFRM${String(number).padStart(16, "0")}`;
}

export const clinics = {
  ours: fixedFp("clinic", 1),
  theirs: fixedFp("clinic", 2),
  /** Has no connection. */
  lonely: fixedFp("clinic", 3),
  /** Has ten thousand patients, all updated at one instant. */
  crowded: fixedFp("clinic", 4),
  /** Gets its patients from practice software, under a source of each run. */
  written: fixedFp("clinic", 5),
} as const;
export type ClinicName = keyof typeof clinics;

const speciesList = ["dog", "cat", "rabbit", "bird", "reptile", "exotic"] as const;
const owner = fixedFp("customer", 1);
const foreignOwner = fixedFp("customer", 2);
const vet = fixedFp("user", 1);

export interface PatientRow {
  fp: string;
  name: string;
  species: string;
  breed: string | null;
  sex: string | null;
  date_of_birth: string | null;
  weight_kg: number | null;
  owner_customer_fp: string;
  created_at: string;
  updated_at: string;
}

export function patient(number: number, changes: Partial<PatientRow> = {}): PatientRow {
  return {
    fp: fixedFp("patient", number),
    name: `Patient ${number}`,
    species: "dog",
    breed: "Kangal",
    sex: "male",
    date_of_birth: "2019-04-12",
    weight_kg: 12.5,
    owner_customer_fp: owner,
    created_at: "2026-01-05T08:00:00.000Z",
    updated_at: "2026-02-01T08:00:00.000Z",
    ...changes,
  };
}

const foreign = (name: string) => ({
  name: `Foreign-${name}`,
  breed: `Foreign-${name}`,
  owner_customer_fp: foreignOwner,
});

export const patients = {
  shared: patient(1, { updated_at: "2026-03-01T10:00:00.000Z" }),
  sparse: patient(2, { species: "cat", breed: null, sex: null, date_of_birth: null, weight_kg: null }),
  /** Its connection to `ours` has ended; `theirs` is still connected. */
  closed: patient(3, foreign("closed")),
  deleted: patient(4, foreign("deleted")),
  theirs: patient(5, foreign("theirs")),
  unconnected: patient(6, foreign("unconnected")),
  /** Connected to `theirs` only, until a check connects it to `ours`. */
  newcomer: patient(7, { species: "exotic" }),
  /** Connected to `ours`, for the check that changes a patient. */
  changing: patient(8, { species: "reptile" }),
} as const;

const CROWD = 10_000;
const crowd = Array.from({ length: CROWD }, (_, index) => patient(10_000 + index));

// Several share a species and an instant, so that the order within an instant shows.
const everyday = Array.from({ length: 120 }, (_, index) =>
  patient(100 + index, {
    species: speciesList[index % speciesList.length] ?? "dog",
    weight_kg: (index + 1) / 4,
    updated_at: new Date(Date.UTC(2026, 3, 1 + Math.floor(index / 8))).toISOString(),
  }),
);

/** The patients of each clinic's list: not deleted, with an active connection, by updated_at and fp, both descending. */
export const listed: Readonly<Record<ClinicName, readonly PatientRow[]>> = {
  ours: newestFirst([patients.shared, patients.sparse, patients.changing, ...everyday]),
  theirs: newestFirst([patients.shared, patients.closed, patients.theirs, patients.newcomer]),
  lonely: [],
  written: [],
  crowded: newestFirst(crowd),
};

function newestFirst(rows: readonly PatientRow[]): PatientRow[] {
  return rows.toSorted((a, b) => compare(b.updated_at, a.updated_at) || compare(b.fp, a.fp));
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function soap(number: number, changes: object = {}) {
  return {
    fp: fixedFp("soap", number),
    patient_fp: patients.shared.fp,
    soap_type: "EXAMINATION",
    status: "SIGNED",
    subjective: "Eats less since Monday.",
    objective: "T 38.9, mild dehydration.",
    assessment: "Gastritis.",
    plan: "Diet for a week; see again if it does not get better.",
    performed_by_clinic_fp: clinics.ours,
    signed_at: "2026-03-02T10:00:00.000Z" as string | null,
    created_at: "2026-03-02T09:30:00.000Z",
    ...changes,
  };
}

const foreignTexts = { subjective: "Foreign-s", objective: "Foreign-o", assessment: "Foreign-a", plan: "Foreign-p" };

export const soaps = {
  draft: soap(1, { status: "DRAFT", signed_at: null, subjective: null, objective: null, assessment: null, plan: null }),
  inProgress: soap(2, { status: "IN_PROGRESS", signed_at: null }),
  signed: soap(3),
  locked: soap(4, { status: "LOCKED" }),
  amendment: soap(5, { signed_at: "2026-03-03T10:00:00.000Z", created_at: "2026-03-03T09:30:00.000Z" }),
  byTheirs: soap(6, { performed_by_clinic_fp: clinics.theirs }),
  ofTheirs: soap(7, { ...foreignTexts, patient_fp: patients.theirs.fp, performed_by_clinic_fp: clinics.theirs }),
  ofClosed: soap(8, { ...foreignTexts, patient_fp: patients.closed.fp }),
  ofDeleted: soap(9, { ...foreignTexts, patient_fp: patients.deleted.fp }),
} as const;

const glucose = (value: number, flag: string, reference_range = "3.3-6.1") => ({
  analyte: "GLU",
  value,
  unit: "mmol/L",
  reference_range,
  flag,
});

function study(number: number, changes: object = {}) {
  return {
    fp: fixedFp("cds", number),
    patient_fp: patients.shared.fp,
    modality: "BIOCHEMISTRY",
    device_name: "Abaxis VetScan VS2",
    status: "COMPLETED",
    acquired_at: "2026-03-04T11:20:00.000Z",
    results: [glucose(5.25, "normal"), glucose(2, "low"), glucose(7, "high"), glucose(0.5, "critical")] as object[],
    ...changes,
  };
}

const foreignStudy = {
  device_name: "Foreign-device",
  results: [{ ...glucose(98_765.4321, "high"), analyte: "FOREIGN" }],
};

export const studies = {
  full: study(1),
  /** A value without an interval, and a bound instead of a value. */
  bare: study(2, {
    results: [
      { analyte: "TBIL", value: 0.2, unit: null, reference_range: null, flag: null, comparator: "<" },
      { analyte: "BE", value: -2.5, unit: "mmol/L", reference_range: "-4.0--1.0", flag: "normal" },
    ],
  }),
  /** Results under the device's own code, of a code that the clinic mapped, in words, and in doubt. */
  device: study(10, {
    results: [
      { analyte: "413", value: 5.2, unit: "U/L", reference_range: null, flag: null, code_source: "device" },
      { ...glucose(6.5, "high"), code_source: "clinic" },
      {
        analyte: "CPV",
        value: null,
        unit: null,
        reference_range: null,
        flag: null,
        value_text: "Positive",
        abnormal: true,
      },
      { ...glucose(6.5, "high"), flag: null, comment: "hemolysis" },
    ],
  }),
  imaging: study(3, { modality: "RADIOLOGY", device_name: "DX1", results: [] }),
  dog: study(4, { results: [glucose(6.5, "high")] }),
  cat: study(5, { patient_fp: patients.sparse.fp, results: [glucose(6.5, "normal", "4.1-8.2")] }),
  ofChanging: study(6, { patient_fp: patients.changing.fp, results: [glucose(6.5, "high")] }),
  ofTheirs: study(7, { ...foreignStudy, patient_fp: patients.theirs.fp }),
  ofClosed: study(8, { ...foreignStudy, patient_fp: patients.closed.fp }),
  ofDeleted: study(9, { ...foreignStudy, patient_fp: patients.deleted.fp }),
} as const;

export const studyOfEachModality = modalities.map((modality, index) => study(20 + index, { modality }));

export interface EventRow {
  fp: string;
  title: string;
  type: string;
  status: string;
  start_at: string;
  end_at: string;
  patient_fp: string | null;
  assigned_user_fp: string | null;
}

export interface ItemRow {
  fp: string;
  name: string;
  category: string;
  sku: string | null;
  unit: string;
  quantity_on_hand: number;
  low_stock_threshold: number;
  unit_price_cents: number;
  currency: string;
  is_virtual: boolean;
}

function item(number: number, changes: Partial<ItemRow> = {}): ItemRow {
  return {
    fp: fixedFp("invitem", number),
    name: `Item ${String(number % 20).padStart(2, "0")}`,
    category: ["MEDICATION", "VACCINE", "CONSUMABLE", "SERVICE", "FOOD"][number % 5] ?? "FOOD",
    sku: `SKU-${number}`,
    unit: "vial",
    // Below, at and above the threshold, in turn.
    quantity_on_hand: 9 + (number % 3),
    low_stock_threshold: 10,
    unit_price_cents: 1000 + number,
    currency: currencies[number % currencies.length] ?? "EUR",
    is_virtual: false,
    ...changes,
  };
}

/** Sorted by name, then by fp. */
export const items: readonly ItemRow[] = [
  ...Array.from({ length: 60 }, (_, index) => item(100 + index)),
  item(1, {
    name: "Consultation",
    category: "SERVICE",
    sku: null,
    quantity_on_hand: 0,
    low_stock_threshold: 0,
    is_virtual: true,
  }),
  item(2, { name: "Çengel iğnesi" }),
].toSorted((a, b) => compare(a.name, b.name) || compare(a.fp, b.fp));

const theirItems = [item(500, { name: "Foreign-item", sku: "Foreign-sku", unit: "Foreign-unit" })];

/** Returns events around the UTC day that begins at `today`, sorted by start, then by fp. */
export function eventsAround(today: number): { ours: EventRow[]; theirs: EventRow[] } {
  const at = (ms: number) => new Date(today + ms).toISOString();
  const event = (number: number, startMs: number, changes: Partial<EventRow> = {}): EventRow => ({
    fp: fixedFp("calevt", number),
    title: `Event ${number}`,
    type: "APPOINTMENT",
    status: "SCHEDULED",
    start_at: at(startMs),
    end_at: at(startMs + HOUR_MS),
    patient_fp: patients.shared.fp,
    assigned_user_fp: vet,
    ...changes,
  });
  const kinds = eventTypes.flatMap((type) => eventStatuses.map((status) => ({ type, status })));
  const ours = [
    event(1, -90 * DAY_MS),
    event(2, -40 * DAY_MS),
    // Ends after the day began.
    event(3, -1, { end_at: at(2 * HOUR_MS) }),
    event(4, 0),
    event(5, 9 * HOUR_MS, { patient_fp: null, assigned_user_fp: null }),
    event(6, 9 * HOUR_MS),
    event(7, 30 * DAY_MS - 1),
    event(8, 30 * DAY_MS),
    event(9, 90 * DAY_MS - 1),
    event(10, 90 * DAY_MS),
    ...kinds.map((kind, index) => event(100 + index, 5 * DAY_MS + Math.floor(index / 2) * HOUR_MS, kind)),
  ];
  const theirs = [event(500, 10 * HOUR_MS, { title: "Foreign-event", assigned_user_fp: null })];
  return { ours: ours.toSorted((a, b) => compare(a.start_at, b.start_at) || compare(a.fp, b.fp)), theirs };
}

/** Returns the lines of the import file. A line refers to earlier ones only. */
export function lines(today: number): object[] {
  const { ours, theirs } = eventsAround(today);
  const connect = (clinic: ClinicName, rows: readonly PatientRow[]) => rows.map(({ fp }) => connection(fp, clinic));
  return [
    ...Object.entries(clinics).map(([name, fp]) => ({ type: "clinic", fp, name: `Clinic ${name}` })),
    { type: "user", fp: vet, name: "Elif", clinic_fp: clinics.ours },
    { type: "customer", fp: owner, locale: { time_zone: "Europe/Istanbul" } },
    { type: "customer", fp: foreignOwner, locale: { time_zone: "Europe/London" } },
    ...Object.values(patients)
      .filter(({ fp }) => fp !== patients.deleted.fp)
      .concat(everyday, crowd)
      .map((row) => ({ type: "patient", ...row })),
    { type: "patient", ...patients.deleted, deleted_at: "2026-02-02T08:00:00.000Z" },
    ...connect("ours", [...listed.ours, patients.deleted]),
    connection(patients.closed.fp, "ours", false),
    ...connect("theirs", listed.theirs),
    ...connect("crowded", crowd),
    ...Object.values(soaps).map((row) => ({ type: "soap", ...row, amends_fp: amends(row.fp) })),
    ...[...Object.values(studies), ...studyOfEachModality].map((row) => ({ type: "study", ...row })),
    ...ours.map((row) => calendarLine(row, clinics.ours)),
    ...theirs.map((row) => calendarLine(row, clinics.theirs)),
    ...items.map((row) => ({ type: "inventory_item", ...row, clinic_fp: clinics.ours })),
    ...theirItems.map((row) => ({ type: "inventory_item", ...row, clinic_fp: clinics.theirs })),
  ];
}

export function connection(patient_fp: string, clinic: ClinicName, active = true): object {
  return { type: "connection", patient_fp, clinic_fp: clinics[clinic], active };
}

function amends(fp: string): string | null {
  return fp === soaps.amendment.fp ? soaps.signed.fp : null;
}

export function calendarLine({ type, ...row }: EventRow, clinic_fp: string): object {
  return { type: "calendar_event", event_type: type, ...row, clinic_fp };
}

/** The fps of records that the keys of `ours` may not read. */
export const foreignFps = {
  patients: [patients.closed, patients.deleted, patients.theirs, patients.unconnected].map(({ fp }) => fp),
  soaps: [soaps.ofTheirs, soaps.ofClosed, soaps.ofDeleted].map(({ fp }) => fp),
  studies: [studies.ofTheirs, studies.ofClosed, studies.ofDeleted].map(({ fp }) => fp),
} as const;
/** Texts that occur in foreign records only. */
export const foreignMarks = [
  "Foreign",
  "FOREIGN",
  "98765",
  foreignOwner,
  clinics.theirs,
  fixedFp("invitem", 500),
  fixedFp("calevt", 500),
];
