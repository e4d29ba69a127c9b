import { createHash } from "node:crypto";
import { study } from "../harness.ts";
import { controlRun } from "../quality.ts";
import type { MarkedClinic } from "./two-clinics.ts";

// A body for each route that takes one. Its own ids are those of a clinic, so that a test can put another clinic's in their place.

type Named = Pick<MarkedClinic, "marker" | "named">;

function sentProfile(marker: string) {
  const text = `schema: 1\nprofile: own/acme-x1\nrevision: 1\n# ${marker}\n`;
  return { profile: "own/acme-x1@1", sha256: createHash("sha256").update(text).digest("hex"), text };
}

/** @returns bodies by method and route, of which the own clinic gets 2xx with fitting ids in the path */
export function bodiesOf({ marker, named }: Named): Readonly<Record<string, object>> {
  const { animal, device } = named;
  const alt = { species: "dog", analyte: "ALT", unit: "U/L", low: "12", high: "105", effective_from: "2026-01-01" };
  const ranges = JSON.stringify({ id: marker, ...alt });
  const typed = {
    patient_fp: animal,
    modality: "BIOCHEMISTRY",
    acquired_at: "2026-11-21T09:00:00.000Z",
    results: [{ analyte: "ALT", value: "150", unit: "U/L" }],
  };
  const record = { soap_type: "EXAMINATION", subjective: marker, objective: null, assessment: null, plan: null };
  const visit = {
    title: marker,
    type: "CHECKUP",
    start_at: "2026-11-26T09:00:00.000Z",
    end_at: "2026-11-26T09:30:00.000Z",
  };
  const stored = { ...visit, start_at: "2026-11-25T09:00:00.000Z", end_at: "2026-11-25T09:30:00.000Z" };
  const none = { breed: null, sex: null, date_of_birth: null, weight_kg: null };
  const written = { name: marker, species: "dog", ...none, identifiers: [], owner: { fp: named.owner } };
  const facts = { name: marker, phone: null, email: null, language: null, time_zone: null };
  const product = { name: `${marker} new`, category: "VACCINE", unit: "vial", low_stock_threshold: 0 };
  const destination = {
    ...{ name_order: "owner_first", local_first: false, pdf: false },
    ...{ application: "PIMS", facility: "" },
  };
  const control = { device_id: device, material: marker, level: "1", lot: marker, expires: null };
  return {
    "POST /agent/v1/quality": { records: [controlRun({ device_name: marker })] },
    "POST /agent/v1/studies": { studies: [study({ patient_fp: animal, device_name: marker })] },
    "POST /agent/v1/registry": { source: "PIMS", changes: [] },
    "POST /agent/v1/profiles": sentProfile(marker),
    "PUT /agent/v1/destinations": { destinations: [{ id: "pims", kind: "hl7", options: {} }] },
    "POST /agent/v1/destinations/:id/again": { delivery_ids: [1] },
    "POST /agent/v1/destinations/:id/outcomes": {
      ...{ delivery_id: 1, attempt: 1, at: "2026-11-21T09:00:00.000Z" },
      ...{ outcome: "failed", code: "timeout", text: null },
    },
    "POST /agent/v1/heartbeat": { version: "0.1.0" },
    "POST /operator/v1/clinics": { name: "New clinic", admin: "New admin" },
    "PUT /operator/v1/clinics/:clinic/quota": {
      studies_max: 5,
      quotas: { devices: 1, api_calls_this_month: 1, storage_bytes: 1 },
    },
    "PUT /operator/v1/announcement": {
      ...{ english: "Closed tonight", turkish: "Bu gece kapalı" },
      ...{ from: "2026-11-21T12:00:00.000Z", until: "2026-11-22T12:00:00.000Z" },
    },
    "POST /operator/v1/clinics/:clinic/support": { reason: "ticket 7: nothing arrives" },
    "POST /operator/v1/clinics/:clinic/export": { reason: "ticket 8: the clinic leaves" },
    "POST /operator/v1/clinics/:clinic/erase": { name: `${marker} clinic` },
    "POST /operator/v1/rollout": { version: "0.2.0", clinics: 1 },
    "POST /operator/v1/account/password": { old_password: "wrong words", new_password: "other words" },
    "POST /clinic/v1/account/password": { old_password: "wrong words", new_password: "other words" },
    ...ofClinic({
      "POST keys": { name: marker, type: "integration", permissions: ["clinic.lab.view"], expires_in_days: null },
      "POST keys/:id/roll": { grace_hours: 1, expires_in_days: null },
      "POST users": { name: marker, role: "reader", password: "ten letters" },
      "POST users/add": { name: named.member, role: "reader" },
      "PATCH users/:user": { role: "staff" },
      "POST users/:user/reset": { password: "ten letters" },
      "PUT settings/clinic": { language: "en", time_zone: null, confirms_connections: true, not_run_hours: 2 },
      "PUT settings/report": { address: marker, phone: "0216" },
      "PUT results/:fp/remark": { text: marker, seen: null },
      "POST results/:fp/release": { reason: marker, seen: [] },
      "POST ranges/preview": { text: ranges },
      "PUT ranges": { text: ranges, low_quality: false, replaces: null },
      "PUT ranges/limits": { ids: [], by: marker, replaces: null },
      "POST ranges/own": {
        ...{ animal: "dog", analyte: "ALT", device: null, age_from: null, age_to: null },
        ...{ from: "2026-01-01", to: "2026-11-29", studies: [], left_out: [] },
      },
      "POST ranges/own/:proposal/decide": { accepted: true, by: marker, language: "en" },
      "POST today/skipped-steps": { step: "ranges" },
      "PUT codes": { device_id: device, code: `${marker}-code`, analyte: "ALT" },
      "POST unmatched/:fp/assign": { revision: 1, patient_fp: animal },
      "POST unmatched/:fp/reject": { revision: 1, reason: marker },
      "POST unmatched/:fp/reopen": { revision: 2 },
      "POST results/:fp/seen": { revision: 1 },
      "POST results/:fp/follow-up/assign": { member: null },
      "POST results/:fp/follow-up/remark": { text: marker },
      "POST results/:fp/follow-up/done": { revision: 1 },
      "POST results/:fp/follow-up/reopen": {},
      "POST results/:fp/links": { revision: 1, language: "en", zone: "UTC", days: 7 },
      "POST results/:fp/report-mail": { revision: 1, language: "en", zone: "UTC", to: "owner@example.com" },
      "POST destinations": { name: marker, address: `tls://${marker}.invalid:6661`, options: destination },
      "PUT destinations/:id/options": { options: { ...destination, application: marker } },
      "POST destinations/:id/pause": { paused: true },
      "POST destinations/:id/again": { deliveries: [1] },
      "POST destinations/:id/aside": { delivery: 1 },
      "PUT mail-server": {
        ...{ host: "127.0.0.1", port: 1, encryption: "starttls", user: null, password: null, seen: null },
        from: `${marker}@clinic.example`,
      },
      "POST mail-server/test": { to: `${marker}@clinic.example` },
      "POST records": { patient_fp: animal, ...record },
      "PATCH records/:fp": { version: named.version, plan: marker },
      "POST records/:fp/move": { version: named.version, to: "IN_PROGRESS" },
      "POST calendar": { ...visit, patient_fp: animal, assigned_user_fp: null },
      "PUT calendar/:fp": {
        ...{ ...visit, patient_fp: animal, assigned_user_fp: null },
        seen: { ...stored, status: "SCHEDULED", patient_fp: animal, assigned_user_fp: null },
      },
      "POST calendar/check": {
        start_at: visit.start_at,
        end_at: visit.end_at,
        patient_fp: animal,
        assigned: null,
        edited: null,
      },
      "POST calendar/:fp/move": { to: "CHECKED_IN" },
      "POST calendar/:fp/undo": { from: "CHECKED_IN" },
      "POST patients/check": { animal: written, edited: null },
      "POST patients": { animal: written, seen: [] },
      "POST patients/:fp/merge": { merged: named.double, version: named.pairVersion },
      "PUT patients/:fp": { animal: { ...written, name: `${marker} dog` }, seen: [], version: named.animalVersion },
      "PUT patients/:fp/deceased": { died_on: null },
      "POST changes/:batch/undo": {},
      "PUT orders/without-order/:fp": { charged: true },
      "PUT settings/retention": { report_links: 12, hints: null },
      "PUT owners/:fp": { ...facts, version: named.ownerVersion },
      "POST stock": { ...product, quantity: 1, lot: marker, expiry_date: null },
      "POST orders": { patient_fp: animal, device, panel: marker, tests: ["ALT"] },
      "POST orders/:fp/attach": { study_fp: named.study },
      "POST orders/:fp/detach": { study_fp: named.study },
      "POST stock/:fp/receive": { quantity: 1, lot: marker, expiry_date: null },
      "POST stock/:fp/consume": { quantity: 1, reason: "used", patient_fp: animal },
      "POST stock/:fp/count": { batch: null, quantity: 1 },
      "POST stock/:fp/movements/:movement/undo": {},
      "POST profiles": { text: "profile: own/other\nrevision: 1\n" },
      "PUT agents/:agent/devices": { devices: "- id: other\n", edited: named.devices },
      "POST rollout": { version: "0.2.0" },
      "POST rollout/skip": { agent: named.agent },
      "PUT imports/:id/choices": {},
      "POST imports/:id/preview": {},
      "POST imports/:id/start": {},
      "POST imports/:id/undo": {},
      "POST manual-study/preview": typed,
      "POST manual-study": { ...typed, entry_id: "0123456789abcdef0123456789abcdef" },
      "POST webhooks": { url: `https://${marker}.example/new`, types: ["study.filed"] },
      "POST webhooks/:id/pause": { paused: true },
      "POST webhooks/:id/resend": { id: named.message },
      "POST webhooks/:id/rotate": { grace_hours: 1 },
      "POST webhooks/:id/resend-all": { hours: null },
      "POST quality/controls": {
        ...{ ...control, entry_id: "0".repeat(32), measured_at: "2026-11-21T09:00:00.000Z", comment: marker },
        results: [{ analyte: "GLU", text: "92", unit: "mg/dL" }],
      },
      "POST quality/answers": { ...control, sample: `${marker} QC`, sent_level: null, from: null },
      "POST quality/targets": {
        ...{ ...control, analyte: "GLU", unit: "mg/dL", target: { mean: 92, sd: 2 }, since: "lot" },
      },
      "POST quality/targets/file": {
        ...{ device_id: device, text: `analyte,unit,level,lot,mean,sd\nGLU,mg/dL,1,${marker},92,2\n`, preview: false },
      },
      "POST quality/series/:series/accept": { mean: 92, sd: 2 },
      "POST quality/values/:value/exclusion": { reason: marker },
      "POST quality/series/:series/explanations": {
        ...{ violation: `1-3s.${named.controlValue}`, text: marker, seen: null },
      },
      "POST quality/events": {
        ...{ device_id: device, at: "2026-11-21T09:00:00.000Z", event: "calibration", subject: marker },
        ...{ entry_id: "0".repeat(32), lot: null, expires: null, text: null },
      },
      "PUT quality/rules": { analyte: "GLU", choice: { "1-3s": "reject" }, seen: null },
      "PUT quality/schedule": { device_id: device, every_days: 1 },
      "PUT notifications/quiet-hours": { quiet: null, seen: null },
      "POST notifications/channels": { type: "email", target: `${marker}2@clinic.example` },
      // The last one: it removes what others name.
      "POST owners/:fp/erase": { version: named.ownerVersion },
    }),
  };
}

function ofClinic(bodies: Record<string, object>): Record<string, object> {
  const entries = Object.entries(bodies);
  return Object.fromEntries(entries.map(([row, body]) => [row.replace(" ", " /clinic/v1/clinics/:clinic/"), body]));
}
