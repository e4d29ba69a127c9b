import { useMemo, useState } from "preact/hooks";
import { ANIMALS_MIN, ownInterval } from "../../../../../../shared/clinical/compare/own-interval.ts";
import type {
  OwnCandidate,
  OwnCandidates,
  OwnSubject,
  ProposalBody,
} from "../../../../../dashboard/types/settings/own-intervals.ts";
import { call } from "../../../../api.ts";
import { Empty, Problem } from "../../../../resource.tsx";
import { clinicPath } from "../../../../session.ts";
import { date, dateTime } from "../../../../text.ts";
import { useAction } from "../../../../ui/form/use-action.ts";
import { DataTable } from "../../../../ui/list/data-table.tsx";
import { FoundIntervalView } from "./found-interval.tsx";
import { t } from "./texts.ts";

interface ChoiceProps {
  readonly subject: OwnSubject;
  readonly found: OwnCandidates;
  readonly done: () => Promise<void>;
}

/** The animals of a search: the user ticks the healthy ones, sees the interval, leaves values out, and stores the proposal. */
export function ChooseAnimals({ subject, found, done }: ChoiceProps) {
  const { animals, decimals, unit } = found;
  const [healthy, setHealthy] = useState<ReadonlySet<string>>(new Set());
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set());
  const [isAsked, setAsked] = useState(false);
  const { run, error, isRunning } = useAction();
  const chosen = animals.filter(({ study_fp: fp }) => healthy.has(fp));
  const taken = chosen.filter(({ study_fp: fp }) => !leftOut.has(fp));
  const result = useMemo(
    () => (isAsked ? ownInterval(taken.map(({ value }) => value)) : null),
    [isAsked, animals, healthy, leftOut],
  );
  const tick = (next: ReadonlySet<string>) => {
    setHealthy(next);
    setLeftOut(new Set([...leftOut].filter((fp) => next.has(fp))));
    setAsked(false);
  };
  const missing = ANIMALS_MIN - taken.length;
  const written = ({ value }: OwnCandidate) => `${value.toFixed(decimals)} ${unit ?? ""}`;
  const store = () =>
    void run(async () => {
      const body: ProposalBody = { ...subject, studies: [...healthy], left_out: [...leftOut] };
      await call("POST", `${clinicPath()}/ranges/own`, body);
      await done();
    });
  if (animals.length === 0 || unit === null) {
    return (
      <>
        <Empty title={t("noAnimals")}>{t("noAnimalsNext")}</Empty>
        <Missing of={found} />
      </>
    );
  }
  return (
    <div class="own-animals">
      <p role="status">{t("found", { count: animals.length })}</p>
      <Missing of={found} />
      <p class="actions">
        <button type="button" onClick={() => tick(new Set(animals.map(({ study_fp: fp }) => fp)))}>
          {t("tickAll")}
        </button>
        <button type="button" onClick={() => tick(new Set())}>
          {t("tickNone")}
        </button>
      </p>
      <DataTable
        label={t("candidates")}
        class="cards dense"
        columns={[t("healthy"), t("oneAnimal"), [t("value"), "number"], t("sampled"), t("device"), t("others")]}
      >
        {animals.map((animal) => (
          <AnimalRow
            key={animal.study_fp}
            animal={animal}
            written={written(animal)}
            isHealthy={healthy.has(animal.study_fp)}
            toggle={(isOn) => tick(changed(healthy, animal.study_fp, isOn))}
          />
        ))}
      </DataTable>
      <p role="status">
        {t("chosen", { count: taken.length })} {missing > 0 && t("missing", { missing })}
      </p>
      <p class="actions">
        <button type="button" disabled={missing > 0 || isAsked} onClick={() => setAsked(true)}>
          {t("compute")}
        </button>
      </p>
      {result?.state === "too equal" && <p role="alert">{t("tooEqual")}</p>}
      {result?.state === "interval" && (
        <section aria-label={t("result")}>
          <h3>{t("result")}</h3>
          <FoundIntervalView
            {...{ interval: result, unit, decimals, now: found.now }}
            values={taken.map(({ value }) => value)}
            leftOut={chosen.filter(({ study_fp: fp }) => leftOut.has(fp)).map(({ value }) => value)}
          />
          {result.outliers.length > 0 && (
            <>
              <h4>{t("suspected")}</h4>
              <p class="quiet">{t("suspectedWhy")}</p>
              <ul class="plain-list">
                {result.outliers.map(({ index, tests }) => {
                  const animal = taken[index];
                  return (
                    animal && (
                      <ValueLine
                        key={animal.study_fp}
                        {...{ animal, written: written(animal), why: tests.map((test) => t(test)).join(", ") }}
                        action="leaveOut"
                        act={() => setLeftOut(changed(leftOut, animal.study_fp, true))}
                      />
                    )
                  );
                })}
              </ul>
            </>
          )}
        </section>
      )}
      {leftOut.size > 0 && (
        <>
          <h4>{t("leftOut")}</h4>
          <ul class="plain-list">
            {chosen
              .filter(({ study_fp: fp }) => leftOut.has(fp))
              .map((animal) => (
                <ValueLine
                  key={animal.study_fp}
                  {...{ animal, written: written(animal), why: null }}
                  action="takeBack"
                  act={() => setLeftOut(changed(leftOut, animal.study_fp, false))}
                />
              ))}
          </ul>
        </>
      )}
      {error !== undefined && <Problem error={error} />}
      {result?.state === "interval" && (
        <p class="actions">
          <button type="button" class="primary" disabled={isRunning} onClick={store}>
            {t("propose")}
          </button>
        </p>
      )}
    </div>
  );
}

function changed(set: ReadonlySet<string>, fp: string, isOn: boolean): ReadonlySet<string> {
  const next = new Set(set);
  if (isOn) next.add(fp);
  else next.delete(fp);
  return next;
}

/** Why animals are not in the list. */
function Missing({ of: { left, searched_from: from } }: { of: OwnCandidates }) {
  const reasons = (["bound", "doubted", "unit", "age"] as const).filter((reason) => left[reason] > 0);
  if (reasons.length === 0 && from === null) return null;
  return (
    <p class="quiet">
      {from !== null && t("searchedFrom", { at: dateTime(from) })}{" "}
      {reasons.map((reason) => t(reason, { count: left[reason] })).join(" ")}
    </p>
  );
}

function AnimalRow({
  animal,
  written,
  isHealthy,
  toggle,
}: {
  readonly animal: OwnCandidate;
  readonly written: string;
  readonly isHealthy: boolean;
  readonly toggle: (isOn: boolean) => void;
}) {
  const { name, breed, age_days: days, acquired_at: at, device_name: device, flagged, study_fp: fp } = animal;
  const years = days === null ? null : t("ageOf", { years: (days / 365.25).toFixed(days < 3653 ? 1 : 0) });
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={t("healthyOf", { name, value: written })}
          checked={isHealthy}
          onChange={({ currentTarget }) => toggle(currentTarget.checked)}
        />
      </td>
      <th scope="row">
        {name} <span class="quiet">{[breed, years].filter(Boolean).join(", ")}</span>
      </th>
      <td class="number">{written}</td>
      <td>
        <a href={`/dashboard/results/${fp}`}>{date(at)}</a>
      </td>
      <td>{device}</td>
      <td>{flagged.join(", ")}</td>
    </tr>
  );
}

function ValueLine({
  animal,
  written,
  why,
  action,
  act,
}: {
  readonly animal: OwnCandidate;
  readonly written: string;
  readonly why: string | null;
  readonly action: "leaveOut" | "takeBack";
  readonly act: () => void;
}) {
  const { name, acquired_at: at, study_fp: fp } = animal;
  return (
    <li class="between">
      <span>
        <strong>{written}</strong> {name}, <a href={`/dashboard/results/${fp}`}>{date(at)}</a>
        {why !== null && <span class="quiet"> {why}</span>}
      </span>
      <button type="button" aria-label={t(`${action}Of`, { name, value: written })} onClick={act}>
        {t(action)}
      </button>
    </li>
  );
}
