import type {
  ChangedRow,
  MatchRule,
  Place,
  Revision,
  RevisionCause,
  RowChange,
  StudyPage,
  TimeLineEvent,
} from "../../../dashboard/types/results/results.ts";
import { doubtText } from "../../../../shared/clinical/device-words/device-words.ts";
import { dateTime, language } from "../../text.ts";
import { flagWord } from "../../ui/result-row/flag.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { filingReason } from "../../ui/words/reasons.ts";
import { Timeline } from "../../ui/status/timeline.tsx";
import { sharingCommand } from "../sharing/texts.ts";
import { t } from "./study-texts.ts";

/** The revisions of a study, the newest first, with the rows that each one changed. */
export function Revisions({ study: { revisions } }: { study: StudyPage }) {
  if (revisions.length < 2) return null;
  return (
    <section aria-labelledby="revisions">
      <h2 id="revisions">{t("revisions")}</h2>
      <ol class="plain-list revisions" reversed>
        {revisions.map((entry) => (
          <li key={entry.revision}>
            <p>
              <strong>{t("revisionNumber", { revision: entry.revision })}</strong>{" "}
              <time dateTime={entry.at}>{dateTime(entry.at)}</time> {revisionText(entry)}
            </p>
            {entry.changes.length > 0 ? (
              <Changes
                of={t("revisionNumber", { revision: entry.revision })}
                changes={entry.changes}
                before={t("before")}
                after={t("after")}
              />
            ) : (
              entry.revision !== revisions.at(-1)?.revision && <p class="quiet">{t("sameResults")}</p>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Studies of the device that contradict this one. */
export function Conflicts({ study: { conflicts } }: { study: StudyPage }) {
  if (conflicts.length === 0) return null;
  return (
    <section aria-labelledby="conflicts">
      <h2 id="conflicts">{t("conflicts")}</h2>
      <p class="quiet">{t("conflictsWhy")}</p>
      {conflicts.map(({ at, reason, changes }, index) => (
        <div key={index}>
          <p>
            <time dateTime={at}>{dateTime(at)}</time> {filingReason(reason)}
          </p>
          {changes.length === 0 ? (
            <p class="quiet">{t("sameResults")}</p>
          ) : (
            <Changes of={`${index + 1}`} changes={changes} before={t("stored")} after={t("sent")} />
          )}
        </div>
      ))}
    </section>
  );
}

function Changes({
  of,
  changes,
  before,
  after,
}: {
  /** Accessible name of the table. */
  of: string;
  changes: readonly RowChange[];
  before: string;
  after: string;
}) {
  return (
    <DataTable label={t("changes", { of })} class="changes" columns={[t("analyte"), before, after]}>
      {changes.map((change, index) => (
        <tr key={index}>
          <th scope="row">{change.analyte}</th>
          <td>
            {change.before === null ? <span class="quiet">{t("absent")}</span> : <del>{rowText(change.before)}</del>}
          </td>
          <td>
            {change.after === null ? <span class="quiet">{t("removed")}</span> : <ins>{rowText(change.after)}</ins>}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function rowText({ text, flag, comment }: ChangedRow): string {
  const words = [flag === null ? "" : flagWord(flag), comment === null ? "" : doubtText(comment, language.value)];
  return [text, ...words].filter((part) => part !== "").join(" ");
}

/** Lists the events of the study, the earliest first. */
export function TimeLine({ study: { fp, time_line } }: { study: StudyPage }) {
  return (
    <section class="card no-print" aria-labelledby="time-line">
      <h2 id="time-line">{t("timeLine")}</h2>
      <Timeline of={time_line.map((event) => ({ at: event.at, text: eventText(event) }))} />
      <a href={`/dashboard/results/${fp}/trail`}>{t("proof")}</a>
    </section>
  );
}

export function eventText(event: TimeLineEvent): string {
  switch (event.kind) {
    case "sample":
      return event.samples.length === 0
        ? t("eventMeasured", { device: event.device })
        : t("eventSample", { device: event.device, samples: event.samples.join(", ") });
    case "received":
      return t("eventReceived", { device: event.device, bytes: event.bytes });
    case "revision":
      return [
        `${t("revisionNumber", { revision: event.revision })}: ${revisionText(event)}`,
        ...(event.rule === null ? [] : [t(RULES[event.rule])]),
      ].join(" · ");
    case "conflict":
      return t("eventConflict", { reason: filingReason(event.reason) });
    case "command":
      return t("eventCommand", { command: sharingCommand(event.command), by: event.by });
    case "delivery": {
      const { to, attempt, ended_at, status } = event;
      const outcome = status === null ? t(ended_at === null ? "noEnd" : "noAnswer") : String(status);
      return t("eventOffered", { to, attempt, outcome });
    }
    case "handed": {
      const { to, attempt, message, code } = event;
      const outcome = t(event.outcome ?? "noEnd");
      return [t("eventHanded", { to, attempt, outcome }), message, code].filter((part) => part !== null).join(" · ");
    }
    case "opened":
      return t("eventOpenedLink", { by: event.by, times: event.times });
    case "read": {
      const read = t(event.is_key ? "eventReadByKey" : "eventReadByUser", { by: event.by, times: event.times });
      return event.times === 1 ? read : `${read}, ${t("lastRead", { at: dateTime(event.last_at) })}`;
    }
  }
}

const RULES = {
  fp: "ruleFp",
  identifier: "ruleIdentifier",
  accession: "ruleAccession",
  name: "ruleName",
} as const satisfies Record<MatchRule, string>;

function revisionText({
  cause,
  by,
  place,
  reason = null,
}: Pick<Revision, "cause" | "by" | "place"> & Partial<Revision>) {
  const parts = [t(CAUSES[cause]), by === null ? "" : t("by", { by }), placeText(place), reason ?? ""];
  return parts.filter((part) => part !== "").join(" · ");
}

const CAUSES = {
  pushed: "pushed",
  imported: "imported",
  entered: "entered",
  assigned: "assigned",
  "assigned despite species": "despiteSpecies",
  corrected: "corrected",
  withdrawn: "withdrawn",
  moved: "moved",
  rejected: "rejected",
  undone: "undone",
  "taken back": "takenBack",
  "flagged again": "flaggedAgain",
  "patient deleted": "patientDeleted",
  "patient restored": "patientRestored",
  merged: "patientMerged",
  "order attached": "orderAttached",
} as const satisfies Record<RevisionCause, string>;

function placeText(place: Place): string {
  switch (place.kind) {
    case "patient":
      return t("filedTo", { name: place.name });
    case "patient of others":
      return t("filedToOthers");
    case "unmatched":
      return place.reason === null ? t("notFiled") : t("notFiledWhy", { reason: filingReason(place.reason) });
    case "rejected":
      return t("rejectedWhy", { reason: place.reason ?? "" });
  }
}
