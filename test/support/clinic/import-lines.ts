import fs from "node:fs";
import { newFp } from "../../../shared/api/fp.ts";

// Generates import files of any length.

const PATIENTS_PER_CLINIC = 5000;
const WRITE_CHARS = 1 << 20;

/** Writes an import file of `count` lines: clinics, and patients each with owner, connection, record, study, event and item. */
export function writeImportFile(path: string, count: number): void {
  const file = fs.openSync(path, "w");
  let piece = "";
  for (const line of importLines(count)) {
    piece += `${JSON.stringify(line)}\n`;
    if (piece.length < WRITE_CHARS) continue;
    fs.writeSync(file, piece);
    piece = "";
  }
  fs.writeSync(file, piece);
  fs.closeSync(file);
}

function* importLines(count: number): Generator<object> {
  let left = count;
  for (const line of endlessLines()) {
    if (left === 0) return;
    left -= 1;
    yield line;
  }
}

function* endlessLines(): Generator<object> {
  let clinic = "";
  for (let index = 0; ; index += 1) {
    if (index % PATIENTS_PER_CLINIC === 0) {
      clinic = newFp("clinic");
      yield { type: "clinic", fp: clinic, name: `Clinic ${index / PATIENTS_PER_CLINIC}` };
    }
    yield* patientLines(index, clinic);
  }
}

function* patientLines(index: number, clinic: string): Generator<object> {
  const [patient, owner] = [newFp("patient"), newFp("customer")];
  const at = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
  yield { type: "customer", fp: owner, locale: { time_zone: "Europe/Istanbul" } };
  yield {
    type: "patient",
    fp: patient,
    name: `Animal ${index}`,
    species: index % 2 === 0 ? "dog" : "cat",
    breed: null,
    sex: "male",
    date_of_birth: "2020-01-01",
    weight_kg: 12.5,
    owner_customer_fp: owner,
    created_at: at,
    updated_at: at,
    external_ids: [String(10_000_000 + index)],
  };
  yield { type: "connection", patient_fp: patient, clinic_fp: clinic, active: true };
  yield {
    type: "soap",
    fp: newFp("soap"),
    patient_fp: patient,
    soap_type: "EXAMINATION",
    status: "SIGNED",
    subjective: "Limping since yesterday.",
    objective: "Left hind leg painful.",
    assessment: null,
    plan: "Rest, control in a week.",
    performed_by_clinic_fp: clinic,
    signed_at: at,
    created_at: at,
  };
  yield {
    type: "study",
    fp: newFp("cds"),
    patient_fp: patient,
    modality: "BIOCHEMISTRY",
    status: "COMPLETED",
    device_name: "Abaxis VetScan VS2",
    acquired_at: at,
    results: ["ALT", "BUN", "CREA", "GLU", "TP", "ALB"].map((analyte, position) => ({
      analyte,
      value: 10 + (index % 100) + position / 10,
      unit: "U/L",
      reference_range: "10-118",
      flag: "normal",
    })),
  };
  yield {
    type: "calendar_event",
    fp: newFp("calevt"),
    title: "Check-up",
    event_type: "CHECKUP",
    status: "SCHEDULED",
    start_at: at,
    end_at: at,
    patient_fp: patient,
    assigned_user_fp: null,
    clinic_fp: clinic,
  };
  yield {
    type: "inventory_item",
    fp: newFp("invitem"),
    name: `Item ${index}`,
    category: "VACCINE",
    sku: `SKU-${index}`,
    unit: "vial",
    quantity_on_hand: 12,
    low_stock_threshold: 10,
    unit_price_cents: 45_000,
    currency: "TRY",
    is_virtual: false,
    clinic_fp: clinic,
  };
}
