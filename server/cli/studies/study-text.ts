import type { Table } from "../../../shared/platform/cli/output.ts";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import { flagLines } from "../../../shared/platform/cli/flag-text.ts";
import { filingReasonText } from "../../../shared/clinical/filing-reasons.ts";
import type { AuditDescription } from "../../records/audit/audit.ts";
import type { Conflict } from "../../records/studies/conflicts.ts";
import type { HistoryEntry, StudyView } from "../../records/studies/history.ts";
import type { UnmatchedStudy } from "../../records/unmatched/unmatched.ts";

// Formats studies as text for the commands unmatched and explain.

export const unmatchedTable: Table<UnmatchedStudy> = {
  head: ["STUDY", "RECEIVED", "DEVICE", "KIND", "CARD / NAME / SPECIES / OWNER", "SAMPLE", "REASON"],
  cells: ({ fp, received_at, device_name, modality, hint, reason, rejected_reason, ...samples }) => {
    const { identifier, name, species, owner } = hint ?? { identifier: null, name: null, species: null, owner: null };
    const patient = [identifier, name, species, owner].map((word) => word ?? "-").join(" / ");
    const [sample = ""] = sampleText(samples);
    const why = rejected_reason ?? (reason && filingReasonText(reason)) ?? "";
    return [fp, received_at, device_name, modality, patient, sample, why];
  },
};

/** Returns a part of a line for the sample identifiers; none without any. */
function sampleText({ sample_ids = [] }: { readonly sample_ids?: readonly string[] }): string[] {
  return sample_ids.length === 0 ? [] : [`sample ${sample_ids.join(", ")}`];
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
      const where =
        patient_fp ??
        `unmatched: ${rejected_reason ?? (unmatched_reason && filingReasonText(unmatched_reason)) ?? "-"}`;
      return { at, text: `revision ${revision}, ${cause}${sender}: ${where}` };
    }),
    ...conflicts.map(({ at, revision, reason }) => ({
      at,
      text: `conflict of revision ${revision}: ${filingReasonText(reason)}`,
    })),
    ...audit.map(({ at, method, route, status, key, user, address }) => ({
      at,
      text: `${method} ${route} ${status ?? ""} by ${user ?? key ?? address}`,
    })),
  ];
  const inTime = events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return [...inTime.map(({ at, text }) => `${at}  ${text}`), ...flagLines(study, snapshot, ranges)];
}
