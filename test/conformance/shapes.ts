import { isObject, type Rule } from "./check.ts";

// The documented resources. They repeat no schema of the server, since a suite with the server's schemas would share its
// mistakes.

const string: Rule = (value) => typeof value === "string";
const boolean: Rule = (value) => typeof value === "boolean";
const number: Rule = (value) => typeof value === "number" && Number.isFinite(value);
const count: Rule = (value) => Number.isInteger(value) && (value as number) >= 0;
const text =
  (pattern: RegExp): Rule =>
  (value) =>
    typeof value === "string" && pattern.test(value);
const oneOf =
  (...words: readonly string[]): Rule =>
  (value) =>
    words.includes(value as string);
const nullable =
  (rule: Rule): Rule =>
  (value) =>
    value === null || rule(value);

export const fp = (prefix: string): Rule => text(new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`));
export const timestamp = text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const date = text(/^\d{4}-\d\d-\d\d$/);
const range = text(/^-?\d+(\.\d+)?--?\d+(\.\d+)?$/);

export const modalities = ["HEMATOLOGY", "BIOCHEMISTRY", "URINALYSIS", "RADIOLOGY", "ULTRASOUND", "ENDOSCOPY"] as const;
export const eventTypes = ["APPOINTMENT", "SURGERY", "VACCINATION", "CHECKUP", "EMERGENCY", "SALE"] as const;
export const eventStatuses = [
  "SCHEDULED",
  "CHECKED_IN",
  "IN_PROGRESS",
  "PENDING_CHECKOUT",
  "CLOSED",
  "CANCELLED",
] as const;
export const currencies = ["TRY", "USD", "EUR", "GBP"] as const;

export const patient = {
  fp: fp("patient"),
  name: string,
  species: (value) => typeof value === "string" && value === value.toLowerCase(),
  breed: nullable(string),
  sex: nullable(string),
  date_of_birth: nullable(date),
  weight_kg: nullable(number),
  owner_customer_fp: fp("customer"),
  created_at: timestamp,
  updated_at: timestamp,
} satisfies Record<string, Rule>;

export const soap = {
  fp: fp("soap"),
  patient_fp: fp("patient"),
  soap_type: string,
  status: oneOf("DRAFT", "IN_PROGRESS", "SIGNED", "LOCKED"),
  subjective: nullable(string),
  objective: nullable(string),
  assessment: nullable(string),
  plan: nullable(string),
  performed_by_clinic_fp: fp("clinic"),
  signed_at: nullable(timestamp),
  created_at: timestamp,
} satisfies Record<string, Rule>;

export const study = {
  fp: fp("cds"),
  patient_fp: fp("patient"),
  modality: oneOf(...modalities),
  device_name: string,
  status: oneOf("COMPLETED"),
  acquired_at: timestamp,
  results: Array.isArray,
} satisfies Record<string, Rule>;

export const listedStudy = { ...study, updated_at: timestamp } satisfies Record<string, Rule>;

/** Without the optional `comparator`, `value_text` and `code_source`. */
export const result = {
  analyte: string,
  value: number,
  unit: nullable(string),
  reference_range: nullable(range),
  flag: nullable(oneOf("normal", "low", "high", "critical")),
} satisfies Record<string, Rule>;

export const event = {
  fp: fp("calevt"),
  title: string,
  type: oneOf(...eventTypes),
  status: oneOf(...eventStatuses),
  start_at: timestamp,
  end_at: timestamp,
  patient_fp: nullable(fp("patient")),
  assigned_user_fp: nullable(fp("user")),
} satisfies Record<string, Rule>;

export const item = {
  fp: fp("invitem"),
  name: string,
  category: string,
  sku: nullable(string),
  unit: string,
  quantity_on_hand: count,
  low_stock_threshold: count,
  unit_price_cents: count,
  currency: oneOf(...currencies),
  is_virtual: boolean,
} satisfies Record<string, Rule>;

export const removed = {
  fp: text(/^(patient|cds)_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
  removed_at: timestamp,
} satisfies Record<string, Rule>;

export const page = {
  items: Array.isArray,
  total: count,
  page: count,
  page_size: count,
  has_more: boolean,
} satisfies Record<string, Rule>;

export const error = {
  code: text(/^[A-Z_]+\.[A-Z_]+$/),
  message: string,
  severity: oneOf("error", "warning"),
} satisfies Record<string, Rule>;

export const errorWithDetails = { ...error, details: isObject } satisfies Record<string, Rule>;
