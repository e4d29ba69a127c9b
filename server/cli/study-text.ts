import type { Table } from "../../shared/cli/output.ts";
import type { PatientCandidate } from "../../shared/clinical/candidates.ts";
import type { ClinicRanges } from "../../shared/clinical/clinic-ranges.ts";
import { flagLines, resultLines } from "../../shared/clinical/flag-text.ts";
import { FLAGGED_ANEW } from "../domain/flagging.ts";
import type { AuditDescription } from "../store/audit.ts";
import type { Conflict } from "../store/studies/conflicts.ts";
import type { HistoryEntry, StudyView } from "../store/studies/history.ts";
import type { UnmatchedStudy } from "../store/studies/unmatched.ts";

// Formats studies as text for the commands unmatched, study and explain.

export const unmatchedTable: Table<UnmatchedStudy> = {
  head: ["STUDY", "RECEIVED", "DEVICE", "KIND", "CARD / NAME / SPECIES / OWNER", "SAMPLE", "REASON"],
  cells: ({ fp, received_at, device_name, modality, hint, reason, rejected_reason, ...samples }) => {
    const { identifier, name, species, owner } = hint ?? { identifier: null, name: null, species: null, owner: null };
    const patient = [identifier, name, species, owner].map((word) => word ?? "-").join(" / ");
    const [sample = ""] = sampleText(samples);
    return [fp, received_at, device_name, modality, patient, sample, rejected_reason ?? reason ?? ""];
  },
};

/** Returns a part of a line for the sample identifiers; none without any. */
function sampleText({ sample_ids = [] }: { readonly sample_ids?: readonly string[] }): string[] {
  return sample_ids.length === 0 ? [] : [`sample ${sample_ids.join(", ")}`];
}

export function viewLines(
  view: StudyView,
  candidates: readonly PatientCandidate[],
  conflicts: readonly Conflict[],
): string[] {
  const { study, revision, unmatched_reason, rejected_reason, hint, source, snapshot } = view;
  const hints = Object.entries(hint ?? {}).flatMap(([key, value]) => (value === null ? [] : [`${key} ${value}`]));
  return [
    `${study.fp}  revision ${revision}  ${study.device_name}  ${study.modality}  ${study.acquired_at}`,
    [
      `clinic ${view.clinic_fp ?? "none"}`,
      `received ${view.received_at}`,
      `device ${source?.device_id ?? "-"}`,
      `message ${source?.message_id ?? "-"}`,
      ...sampleText(source ?? {}),
    ].join("  "),
    study.patient_fp === "" ? `unmatched: ${unmatched_reason ?? "-"}` : `filed to ${study.patient_fp}`,
    ...(rejected_reason === null ? [] : [`rejected: ${rejected_reason}`]),
    `the device says: ${hints.join(", ") || "nothing"}`,
    ...resultLines(study.results, snapshot).map((line) => `  ${line}`),
    ...candidates.map(({ patient, score, reasons }) => `candidate ${patient.fp}  ${score}  ${reasons.join(", ")}`),
    ...conflicts.map(conflictLine),
  ];
}

export const conflictTable: Table<Conflict> = {
  head: ["", "STUDY", "RECEIVED", "CONFLICT", "RESULTS"],
  cells: ({ fp, at, revision, reason, study }) => [
    "conflict",
    fp,
    at,
    `revision ${revision}: ${reason}`,
    resultLines(study.results, null).join("; "),
  ],
};

export function conflictLine(conflict: Conflict): string {
  return conflictTable.cells(conflict).join("  ");
}

/** Returns for each revision its cause, notes on new flags, and the results that it changed. */
export function historyLines(history: readonly HistoryEntry[]): string[] {
  return history.flatMap((entry, index) => {
    const previous = history[index - 1];
    const before = new Set(previous && resultLines(previous.study.results, previous.snapshot));
    const changed = resultLines(entry.study.results, entry.snapshot).filter((line) => !before.has(line));
    const where = entry.patient_fp ?? `unmatched: ${entry.rejected_reason ?? entry.unmatched_reason ?? "-"}`;
    const parts = [`revision ${entry.revision}`, entry.at, entry.cause, where];
    const head = [...parts, ...sampleText(entry)].join("  ");
    const notes = entry.snapshot?.notes.filter((note) => note.startsWith(FLAGGED_ANEW)) ?? [];
    return [head, ...notes.map((note) => `  ${note}`), ...changed.map((line) => `  ${line}`)];
  });
}

/** Returns the time line of a study, the earliest line first, then the reason of each flag. */
export function explainLines(
  view: StudyView,
  {
    history,
    conflicts,
    audit,
    ranges,
  }: {
    history: readonly HistoryEntry[];
    conflicts: readonly Conflict[];
    audit: readonly AuditDescription[];
    ranges: ClinicRanges | undefined;
  },
): string[] {
  const { study, source, snapshot } = view;
  const events = [
    { at: study.acquired_at, text: `the ${sampleText(source ?? {})[0] ?? "sample"}, on ${study.device_name}` },
    ...history.map(({ at, revision, cause, patient_fp, unmatched_reason, rejected_reason }) => {
      const sender =
        cause === "pushed" && source !== null ? ` by ${source.device_id}, message ${source.message_id}` : "";
      const where = patient_fp ?? `unmatched: ${rejected_reason ?? unmatched_reason ?? "-"}`;
      return { at, text: `revision ${revision}, ${cause}${sender}: ${where}` };
    }),
    ...conflicts.map(({ at, revision, reason }) => ({ at, text: `conflict of revision ${revision}: ${reason}` })),
    ...audit.map(({ at, method, route, status, key, user, address }) => ({
      at,
      text: `${method} ${route} ${status ?? ""} by ${user ?? key ?? address}`,
    })),
  ];
  const inTime = events.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return [...inTime.map(({ at, text }) => `${at}  ${text}`), ...flagLines(study.results, snapshot, ranges)];
}
