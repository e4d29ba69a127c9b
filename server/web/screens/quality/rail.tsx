import { useState } from "preact/hooks";
import type { ControlledDevice, SeriesBody, ShownSeries } from "../../../dashboard/types/quality.ts";
import type { Rule } from "../../../../shared/clinical/control/types.ts";
import { whyRulesText } from "../../../../shared/clinical/control/words.ts";
import { may } from "../../session.ts";
import { date, language } from "../../text.ts";
import { State } from "../../ui/status/status-card.tsx";
import { addressOf } from "./choice.ts";
import { AcceptOwn } from "./dialogs/limits/own-limits.tsx";
import { ChangeRules } from "./dialogs/rules.tsx";
import { SetSchedule } from "./dialogs/schedule.tsx";
import { EnterTarget } from "./dialogs/limits/target.tsx";
import { TargetsFile } from "./dialogs/limits/targets-file.tsx";
import { targetText } from "./words/numbers.ts";
import { t } from "./words/texts.ts";
import { analyteTitle, basisText, type Names, stateOf } from "./words/words.ts";

/** All analytes of the device at one level, with their states. Each leads to its chart. */
export function AllAnalytes({
  device: { series: all },
  series: { level, id },
  names,
}: {
  device: ControlledDevice;
  series: ShownSeries;
  names: Names;
}) {
  return (
    <section class="card" aria-labelledby="all-analytes">
      <h2 id="all-analytes">{t("allOf", { level })}</h2>
      <ul class="plain-list quality-list">
        {newestLots(all.filter((each) => each.level === level)).map((each) => {
          const { tone, words } = stateOf(each);
          return (
            <li key={each.id}>
              <a
                href={addressOf(each)}
                title={analyteTitle(each.analyte, names)}
                aria-current={each.id === id ? "true" : undefined}
              >
                {each.analyte}
              </a>
              <State tone={tone}>{words}</State>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The series of the lot that each analyte was measured with last. */
function newestLots(series: readonly ShownSeries[]): ShownSeries[] {
  const newest = new Map<string, ShownSeries>();
  for (const each of series) {
    const known = newest.get(each.analyte);
    if (known === undefined || (each.last_at ?? "") > (known.last_at ?? "")) newest.set(each.analyte, each);
  }
  return [...newest.values()].toSorted((one, other) => one.analyte.localeCompare(other.analyte));
}

interface PartProps {
  readonly of: SeriesBody;
  readonly names: Names;
  readonly reload: () => Promise<void>;
}

/** The limits in force with their basis, and the ways to set them. */
export function Limits({ of: body, names, isFirst, reload }: PartProps & { readonly isFirst: boolean }) {
  const { series, target } = body;
  // Accepted limits are not proposed again.
  const proposal = target?.basis === "own" ? null : body.proposal;
  const [open, setOpen] = useState<"target" | "file" | "own" | null>(null);
  const close = () => setOpen(null);
  return (
    <section class="card" aria-labelledby="limits">
      <h2 id="limits">{t("limits")}</h2>
      {target !== null && <p class="quiet">{`${targetText(target)} ${series.unit ?? ""}. ${basisText(target)}.`}</p>}
      {proposal !== null && <p>{t("proposed", { count: proposal.runs, target: targetText(proposal) })}</p>}
      {may("admin") && (
        <p class="actions no-print">
          {proposal !== null && (
            <button type="button" onClick={() => setOpen("own")}>
              {t("acceptOwn")}
            </button>
          )}
          <button
            type="button"
            class={isFirst && target === null ? "primary" : undefined}
            onClick={() => setOpen("target")}
          >
            {t(target === null ? "setTarget" : "changeTarget")}
          </button>
          <button type="button" onClick={() => setOpen("file")}>
            {t("targetsFile")}
          </button>
        </p>
      )}
      {open === "target" && <EnterTarget of={body} names={names} close={close} reload={reload} />}
      {open === "file" && <TargetsFile device={series.device_id} close={close} reload={reload} />}
      {open === "own" && proposal !== null && <AcceptOwn of={body} proposal={proposal} close={close} reload={reload} />}
    </section>
  );
}

/** The rules that judge the runs, and who chose them. */
export function Rules({ of: { series, rules }, names, reload }: PartProps) {
  const [isOpen, setOpen] = useState(false);
  const named = (verdict: "reject" | "warn") =>
    (Object.entries(rules.choice) as [Rule, "warn" | "reject"][]).filter(([, each]) => each === verdict);
  const texts = (["reject", "warn"] as const).flatMap((verdict) => {
    const list = named(verdict).map(([rule]) => rule);
    if (list.length === 0) return [];
    return [`${t(verdict === "reject" ? "rejects" : "warns", { rules: list.join(", "), count: list.length })}.`];
  });
  return (
    <section class="card" aria-labelledby="rules">
      <h2 id="rules">{t("rules")}</h2>
      <p class="quiet">
        {texts.length === 0 ? t("noRules") : texts.join(" ")}{" "}
        {rules.by !== null && rules.at !== null
          ? t("chosenBy", { by: rules.by, date: date(rules.at) })
          : whyRulesText(rules.why, language.value)}
      </p>
      {may("admin") && (
        <p class="no-print">
          <button type="button" onClick={() => setOpen(true)}>
            {t("changeRules")}
          </button>
        </p>
      )}
      {isOpen && (
        <ChangeRules
          analyte={series.analyte}
          title={analyteTitle(series.analyte, names)}
          rules={rules}
          close={() => setOpen(false)}
          reload={reload}
        />
      )}
    </section>
  );
}

/** How often the device needs a control, and when the next one is due. */
export function Schedule({
  devices,
  device,
  reload,
}: {
  devices: readonly ControlledDevice[];
  device: ControlledDevice;
  reload: () => Promise<void>;
}) {
  const [isOpen, setOpen] = useState(false);
  const { schedule } = device;
  const isLate = schedule !== null && isPast(schedule.due_at);
  return (
    <section class="card" aria-labelledby="schedule">
      <h2 id="schedule">{t("schedule")}</h2>
      <p class="quiet">
        {schedule === null
          ? t("noSchedule")
          : `${t("everyDays", { count: schedule.every_days })} ${t(isLate ? "overdue" : "dueOn", { date: date(schedule.due_at) })}`}
      </p>
      {may("admin") && (
        <p class="no-print">
          <button type="button" onClick={() => setOpen(true)}>
            {t("changeSchedule")}
          </button>
        </p>
      )}
      {isOpen && <SetSchedule devices={devices} device={device} close={() => setOpen(false)} reload={reload} />}
    </section>
  );
}

function isPast(instant: string): boolean {
  return Date.parse(instant) < Date.now();
}
