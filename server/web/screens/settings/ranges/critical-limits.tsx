import { unitText } from "../../../../../shared/clinical/units/unit-text.ts";
import { useState } from "preact/hooks";
import { limitExceptionText } from "../../../../../shared/clinical/flag-reasons.ts";
import type { LimitsBody, LimitShown, LimitsInUse } from "../../../../dashboard/types/settings/limits.ts";
import { call } from "../../../api.ts";
import { Loaded, Problem, useResource } from "../../../resource.tsx";
import { clinicPath, may, session } from "../../../session.ts";
import { date, language } from "../../../text.ts";
import { Field } from "../../../ui/form/field.tsx";
import { useAction } from "../../../ui/form/use-action.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { studyWord } from "../../../ui/words/study-word.ts";
import { t } from "./limit-texts.ts";

/** The published critical limits. None applies before a vet of the clinic accepts it by name. */
export function CriticalLimits({ reloadRanges }: { reloadRanges: () => Promise<void> }) {
  const limits = useResource<LimitsInUse>("/ranges/limits");
  return (
    <section id="critical-limits" class="critical-limits" aria-labelledby="limits-title">
      <h2 id="limits-title">{t("title")}</h2>
      <p class="quiet">{t("intro")}</p>
      <Loaded of={limits}>
        {(inUse) => (
          <Choice
            key={inUse.version}
            inUse={inUse}
            done={async () => {
              await Promise.all([limits.reload(), reloadRanges()]);
            }}
          />
        )}
      </Loaded>
    </section>
  );
}

function Choice({ inUse, done }: { inUse: LimitsInUse; done: () => Promise<void> }) {
  const { run, error, isRunning } = useAction();
  const accepted = inUse.limits.filter((limit) => limit.accepted !== null).map(({ id }) => id);
  const [chosen, setChosen] = useState<readonly string[]>(accepted);
  const [by, setBy] = useState(session.value?.state === "signed in" ? session.value.user.name : "");
  const decide = (ids: readonly string[]) =>
    void run(async () => {
      const body: LimitsBody = { ids: [...ids], by, replaces: inUse.version };
      await call("PUT", `${clinicPath()}/ranges/limits`, body);
      await done();
    });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    decide(chosen);
  };
  const isChanged = chosen.length !== accepted.length || chosen.some((id) => !accepted.includes(id));
  const mayDecide = may("admin");
  return (
    <form onSubmit={submit}>
      <p role="status">{inUse.is_decided ? countText(accepted.length) : t("undecided")}</p>
      <DataTable
        label={t("offered")}
        class="cards"
        columns={[t("use"), t("animal"), t("analyte"), [t("limit"), "number"], t("source"), t("grade")]}
      >
        {inUse.limits.map((limit) => (
          <LimitRow
            key={limit.id}
            limit={limit}
            isChosen={chosen.includes(limit.id)}
            isFixed={!mayDecide || isRunning}
            toggle={(isOn) => setChosen(isOn ? [...chosen, limit.id] : chosen.filter((id) => id !== limit.id))}
          />
        ))}
      </DataTable>
      {mayDecide && (
        <>
          <Field label={t("by")} hint={t("byHint")}>
            <input
              value={by}
              maxLength={100}
              required
              autocomplete="off"
              onInput={({ currentTarget }: { currentTarget: HTMLInputElement }) => setBy(currentTarget.value)}
            />
          </Field>
          {error !== undefined && <Problem error={error} />}
          <p class="actions">
            <button type="submit" class="primary" disabled={isRunning || !isChanged || by.trim() === ""}>
              {t("accept", { count: chosen.length })}
            </button>
            {(!inUse.is_decided || accepted.length > 0) && (
              <button type="button" disabled={isRunning || by.trim() === ""} onClick={() => decide([])}>
                {t(accepted.length > 0 ? "withdrawAll" : "none")}
              </button>
            )}
          </p>
        </>
      )}
    </form>
  );
}

function countText(count: number): string {
  return count === 0 ? t("noneInUse") : t("inUse", { count });
}

interface RowProps {
  readonly limit: LimitShown;
  readonly isChosen: boolean;
  readonly isFixed: boolean;
  readonly toggle: (isOn: boolean) => void;
}

function LimitRow({ limit, isChosen, isFixed, toggle }: RowProps) {
  const { analyte, offer, source, exceptions, accepted } = limit;
  const typed = boundText({ ...limit, unit: unitText(limit.unit) });
  const bound = limit.shown === null ? typed : boundText(limit.shown);
  const animal = animalText(limit);
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={t("useOf", { animal, analyte, bound })}
          checked={isChosen}
          disabled={isFixed}
          onChange={({ currentTarget }) => toggle(currentTarget.checked)}
        />
      </td>
      <td>{animal}</td>
      <th scope="row">{analyte}</th>
      <td class="number" title={limit.shown === null ? undefined : typed}>
        {bound}
      </td>
      <td>
        {offer === null ? (
          <>
            {t("notOffered")} <span lang="en">{source}</span>
          </>
        ) : (
          <>
            {t(offer.basis)}.{" "}
            <a href={offer.source_url} rel="noreferrer noopener" target="_blank" lang="en">
              {source}
            </a>
          </>
        )}
        {exceptions.map((id) => (
          <div key={id} class="quiet">
            {t("except", { why: limitExceptionText(id, language.value) })}
          </div>
        ))}
        {accepted !== null && <div>{t("acceptedBy", { by: accepted.by, at: date(accepted.at) })}</div>}
      </td>
      <td>{offer?.grade ?? t("ungraded")}</td>
    </tr>
  );
}

function boundText({ low, high, unit }: NonNullable<LimitShown["shown"]>): string {
  const sides = [low === undefined ? "" : `< ${low}`, high === undefined ? "" : `> ${high}`];
  return `${sides.filter(Boolean).join(", ")} ${unit}`.trimEnd();
}

function animalText({ species, subgroup, age_min_days: from, age_max_days: to }: LimitShown): string {
  const age = to !== undefined ? t("agesTo", { to }) : from !== undefined ? t("agesFrom", { from }) : "";
  return [studyWord(subgroup ?? species), age].filter(Boolean).join(", ");
}
