import { whyText } from "../../../../../shared/clinical/passport/why-words.ts";
import type { Passport, StudyPage, StudyRow } from "../../../../dashboard/types/results/results.ts";
import { language } from "../../../text.ts";
import { flagReason } from "../../../ui/words/reasons.ts";
import { t } from "./why-texts.ts";
import "./why.css";

/** Results that share an interval's reason, origin and remark. */
interface Group {
  readonly analytes: string[];
  readonly why: string;
  readonly passport: Passport | undefined;
  /** Number of its source above. */
  readonly source: number;
  readonly remark: string | null;
}

/** Says for each result why this interval applies and how its numbers came about, or why there is none. Open for a remark. */
export function WhyIntervals({ study, sourceOf }: { study: StudyPage; sourceOf: (row: StudyRow) => number }) {
  const groups = new Map<string, Group>();
  for (const row of study.rows) {
    const group = groupOf(row, sourceOf(row));
    if (group === null) continue;
    const key = JSON.stringify({ ...group, analytes: [] });
    groups.set(key, { ...group, analytes: [...(groups.get(key)?.analytes ?? []), row.analyte] });
  }
  if (groups.size === 0) return null;
  return (
    <details class="why" open={study.rows.some(hasRemark)}>
      <summary>{t("title")}</summary>
      <dl>
        {[...groups].map(([key, { analytes, why, passport, source, remark }]) => (
          <div key={key}>
            <dt>{analytes.join(", ")}</dt>
            <dd>
              {remark !== null && <strong class="breed-remark">{remark}</strong>}
              <span>{why}</span>
              {passport !== undefined && <PassportLine of={passport} source={source} />}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function groupOf(row: StudyRow, source: number): Group | null {
  const { why, reason, reference_range } = row;
  const remark = hasRemark(row) && reason !== null ? capitalized(flagReason(reason)) : null;
  if (reference_range === null) {
    const text = reason === null ? null : t("none", { reason: flagReason(reason) });
    return text === null ? null : { analytes: [], why: text, passport: undefined, source: 0, remark };
  }
  if (row.source === null) return null;
  const text = why.length === 0 ? t("unknown", { id: row.source.id }) : whyText(why, language.value);
  const passport = row.source.passport ?? {};
  return { analytes: [], why: capitalized(text), passport, source, remark };
}

function hasRemark({ reason }: StudyRow): boolean {
  return reason?.code === "BREED.REMARK";
}

function capitalized(text: string): string {
  return text.slice(0, 1).toLocaleUpperCase(language.value) + text.slice(1);
}

function PassportLine({ of, source }: { of: Passport; source: number }) {
  const facts = [
    source > 0 && t("source", { number: source }),
    of.made !== undefined && t(of.made),
    of.n !== undefined && t("animals", { n: of.n }),
    of.grade !== undefined && t("grade", { grade: of.grade }),
    of.in_force_from !== undefined && t("inForce", { day: of.in_force_from.slice(0, 10) }),
    of.accepted_by !== undefined && t("acceptedBy", { name: of.accepted_by }),
  ].filter((fact) => fact !== false);
  const quoted = [of.source, of.method, of.note].filter((text) => text !== undefined);
  return (
    <span class="quiet">
      {facts.join(" · ")}
      {quoted.map((text) => (
        <span key={text}>
          {" · "}
          <q {...(of.grade !== undefined && { lang: "en" })}>{text}</q>
        </span>
      ))}
    </span>
  );
}
