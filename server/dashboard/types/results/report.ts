import type { ReportQuery, StudyPage } from "./results.ts";

// The facts of a printed report: those of its study that it shows, and those in addition.

const REPORTED = [
  ...(["fp", "patient", "hint", "modality", "device_name", "sample_ids", "acquired_at", "revision", "rows"] as const),
  ...(["comments", "not_reported", "remark", "order", "flagged_for", "quality"] as const),
];

/** The parts of a study that a report shows. */
export type ReportedStudy = Pick<StudyPage, (typeof REPORTED)[number]>;

/** Takes what a report shows, so that nothing else of the study makes another report of it. */
export function reportedOf(study: StudyPage): ReportedStudy {
  return Object.fromEntries(REPORTED.map((name) => [name, study[name]])) as unknown as ReportedStudy;
}

export interface ReportContext extends ReportQuery {
  readonly clinicName: string;
  /** The head of the clinic's reports; each is empty until an admin sets it. */
  readonly address: string;
  readonly phone: string;
  /** A data URL of a PNG or JPEG. */
  readonly logo: string | null;
  /** Null for an animal that another clinic lists, and for an owner without a name. */
  readonly owner: { readonly name: string; readonly phone: string | null } | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}
