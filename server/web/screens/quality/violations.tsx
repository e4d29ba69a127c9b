import { useState } from "preact/hooks";
import type { SeriesBody, ShownViolation } from "../../../dashboard/types/quality.ts";
import { violationText } from "../../../../shared/clinical/control/words.ts";
import { may } from "../../session.ts";
import { date, dateTime, language } from "../../text.ts";
import { Need } from "../../ui/list/needs.tsx";
import { Explain } from "./dialogs/explain.tsx";
import { t } from "./words/texts.ts";
import { toldRules } from "./words/words.ts";

/** The rules that runs of the series broke, the newest first, with what to do and what a person wrote about each. */
export function Violations({
  of: { series, violations },
  isFirst,
  reload,
}: {
  of: SeriesBody;
  /** Whether nothing else on the page needs a person first. */
  isFirst: boolean;
  reload: () => Promise<void>;
}) {
  const [open, setOpen] = useState<ShownViolation | null>(null);
  const told = violations.filter(({ at, rule }) =>
    toldRules(violations.filter((other) => other.at === at).map((other) => other.rule)).includes(rule),
  );
  const newest = told.toSorted((one, other) => other.at.localeCompare(one.at));
  const first = isFirst ? newest.find(isOpen) : undefined;
  return (
    <section class="card flush needs" aria-labelledby="broken">
      <div class="card-head">
        <h2 id="broken">{t("broken")}</h2>
        {told.length > 0 && <p class="quiet">{t("brokenCount", { count: told.length })}</p>}
      </div>
      {told.length === 0 && <p class="card-foot">{t("brokenNone")}</p>}
      <ul>
        {newest.map((violation) => (
          <Need
            key={violation.id}
            icon={violation.verdict === "reject" ? "bad" : "wait"}
            tone={isOpen(violation) ? "warn" : "plain"}
            what={
              <>
                <strong>
                  {dateTime(violation.at)} · {violation.points.join(", ")}
                </strong>{" "}
                ({violation.rule}), <strong>{t(violation.verdict === "reject" ? "rejected" : "warned")}</strong>
              </>
            }
            why={<Why of={violation} analyte={series.analyte} />}
          >
            {may("staff") && violation.verdict === "reject" && (
              <button
                type="button"
                class={violation === first ? "primary" : undefined}
                aria-label={t(violation.explained === null ? "writeDownOf" : "changeTextOf", {
                  rule: violation.rule,
                  time: dateTime(violation.at),
                })}
                onClick={() => setOpen(violation)}
              >
                {t(violation.explained === null ? "writeDown" : "changeText")}
              </button>
            )}
          </Need>
        ))}
      </ul>
      {open !== null && <Explain violation={open} series={series} close={() => setOpen(null)} reload={reload} />}
    </section>
  );
}

/** Whether a person has yet to write what was done. */
export function isOpen({ verdict, explained }: ShownViolation): boolean {
  return verdict === "reject" && explained === null;
}

function Why({ of: violation, analyte }: { of: ShownViolation; analyte: string }) {
  const { patients, explained, verdict } = violation;
  const { what, next } = violationText(violation, analyte, violation.change, language.value);
  return (
    <>
      {what} {next} {patients > 0 && t("patients", { count: patients })}{" "}
      {explained !== null && t("explainedBy", { by: explained.by, date: date(explained.at), text: explained.text })}
      {explained === null && verdict === "reject" && t("nobody")}
    </>
  );
}
