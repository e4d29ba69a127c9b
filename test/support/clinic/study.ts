import type { StudyDraft } from "../../../agent/spool/queries/studies/revisions.ts";
import { newFp } from "../../../shared/api/fp.ts";

/** Builds a study with one ALT value of a known dog; `body` overrides its fields. */
export function studyDraft(body: Partial<StudyDraft["body"]> = {}): StudyDraft {
  const hint = { identifier: "4711", name: null, species: null, breed: null, sex: null, owner: null };
  return {
    freshFp: newFp("cds"),
    body: {
      patient_fp: "patient_01K9TEST000000000000000001",
      modality: "BIOCHEMISTRY",
      device_name: "Tester",
      status: "COMPLETED",
      acquired_at: "2026-01-01T00:00:00.000Z",
      results: [alt(50)],
      dedupe_key: "chem-1:abc",
      source: { device_id: "chem-1", message_id: "M1" },
      patient_hint: { ...hint, date_of_birth: null, weight_kg: null },
      ...body,
    },
    snapshot: { catalogue: "1", ranges: null, instrument: null, rows: [], notes: [] },
  };
}

export function alt(value: number): StudyDraft["body"]["results"][number] {
  return { analyte: "ALT", value, unit: "U/L", reference_range: "10-118", flag: "normal" };
}
