import type { CalendarEventLine, InventoryBatchLine, InventoryItemLine, SoapLine } from "../../server/import/lines.ts";
import type { CalendarEvent } from "../../shared/api/calendar.ts";
import { newFp } from "../../shared/api/fp.ts";
import type { InventoryItem } from "../../shared/api/inventory.ts";
import type { Soap } from "../../shared/api/soap.ts";

// Builders of import lines for SOAP records, events and stock, and of the same records as the API shows them.

export function soap(patient_fp: string, performed_by_clinic_fp: string, changes: Partial<SoapLine> = {}) {
  return {
    type: "soap" as const,
    fp: newFp("soap"),
    patient_fp,
    soap_type: "EXAMINATION",
    status: "DRAFT" as const,
    subjective: "Limping since yesterday.",
    objective: "Left hind leg painful.",
    assessment: null,
    plan: "Rest, control in a week.",
    performed_by_clinic_fp,
    signed_at: null,
    created_at: "2026-11-01T09:00:00.000Z",
    ...changes,
  } satisfies SoapLine;
}

export function publishedSoap({ type: _type, amends_fp: _amends, ...shown }: SoapLine): Soap {
  return shown;
}

export function event(clinic_fp: string, changes: Partial<CalendarEventLine> = {}) {
  return {
    type: "calendar_event" as const,
    fp: newFp("calevt"),
    title: "Check-up",
    event_type: "CHECKUP" as const,
    status: "SCHEDULED" as const,
    start_at: "2026-11-25T09:00:00.000Z",
    end_at: "2026-11-25T09:30:00.000Z",
    patient_fp: null,
    assigned_user_fp: null,
    clinic_fp,
    ...changes,
  } satisfies CalendarEventLine;
}

export function publishedEvent({ event_type, clinic_fp: _clinic, ...shown }: CalendarEventLine): CalendarEvent {
  return { ...shown, type: event_type };
}

export function item(clinic_fp: string, changes: Partial<InventoryItemLine> = {}) {
  return {
    type: "inventory_item" as const,
    fp: newFp("invitem"),
    name: "Rabies vaccine",
    category: "VACCINE",
    sku: "RAB-1",
    unit: "vial",
    quantity_on_hand: 12,
    low_stock_threshold: 10,
    unit_price_cents: 45_000,
    currency: "TRY" as const,
    is_virtual: false,
    clinic_fp,
    ...changes,
  } satisfies InventoryItemLine;
}

export function publishedItem({ type: _type, clinic_fp: _clinic, ...shown }: InventoryItemLine): InventoryItem {
  return shown;
}

export function batch(item_fp: string, changes: Partial<InventoryBatchLine> = {}) {
  return {
    type: "inventory_batch" as const,
    item_fp,
    lot: "L1",
    quantity: 5,
    received_at: "2026-10-01T00:00:00.000Z",
    expiry_date: "2027-03-31",
    ...changes,
  } satisfies InventoryBatchLine;
}

/** A clinic's intervals of ALT for dogs: one up to the age of 365 days, another from 366 days on. */
export const intervalsByAge = {
  low_quality: false,
  rows: [
    { id: "young", high: "90", age_max_days: 365 },
    { id: "grown", high: "200", age_min_days: 366 },
  ].map((row) => ({
    species: "dog" as const,
    analyte: "ALT",
    unit: "U/L",
    low: "20",
    effective_from: "2026-01-01",
    ...row,
  })),
};
