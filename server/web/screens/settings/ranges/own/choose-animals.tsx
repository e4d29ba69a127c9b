import { useMemo, useState } from "preact/hooks";
import { ANIMALS_MIN, ownInterval } from "../../../../../../shared/clinical/compare/own-interval.ts";
import type {
  CandidatesShown,
  OwnCandidate,
  OwnSubject,
  ProposalBody,
} from "../../../../../dashboard/types/settings/own-intervals.ts";
import { call } from "../../../../api.ts";
import { Empty, Problem } from "../../../../resource.tsx";
import { clinicPath } from "../../../../session.ts";
import { date } from "../../../../text.ts";
import { useAction } from "../../../../ui/form/use-action.ts";
import { AnimalTable, Missing, writtenValue } from "./animal-table.tsx";
import { FoundIntervalView } from "./found-interval.tsx";
import { numbersOf } from "./numbers.ts";
import { t } from "./texts.ts";

interface ChoiceProps {
  readonly subject: OwnSubject;
  readonly found: CandidatesShown;
  readonly done: () => Promise<void>;
}

/** The animals of a search: the user ticks the healthy ones, sees the interval, leaves values out, and stores the proposal. */
export function ChooseAnimals({ subject, found, done }: ChoiceProps) {
  const { animals, unit } = found;
  const [healthy, setHealthy] = useState<ReadonlySet<string>>(new Set());
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set());
  const [isAsked, setAsked] = useState(false);
  const chosen = animals.filter(({ study_fp: fp }) => healthy.has(fp));
  const taken = chosen.filter(({ study_fp: fp }) => !leftOut.has(fp));
  const missing = ANIMALS_MIN - taken.length;
  if (animals.length === 0 || unit === null) {
    return (
      <>
        <Empty title={t("noAnimals")}>{t("noAnimalsNext")}</Empty>
        <Missing of={found} />
      </>
    );
  }
  const tick = (next: ReadonlySet<string>) => {
    setHealthy(next);
    setLeftOut(new Set([...leftOut].filter((fp) => next.has(fp))));
    setAsked(false);
  };
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
      <AnimalTable of={found} healthy={healthy} toggle={(fp, isOn) => tick(changed(healthy, fp, isOn))} />
      <p role="status">
        {t("chosen", { count: taken.length })} {missing > 0 && t("missing", { missing })}
      </p>
      <p class="actions">
        <button type="button" disabled={missing > 0 || isAsked} onClick={() => setAsked(true)}>
          {t("compute")}
        </button>
      </p>
      {isAsked && (
        <Computed
          {...{ subject, found, chosen, leftOut, done }}
          leave={(fp, isOut) => setLeftOut(changed(leftOut, fp, isOut))}
        />
      )}
    </div>
  );
}

interface ComputedProps extends ChoiceProps {
  readonly chosen: readonly OwnCandidate[];
  readonly leftOut: ReadonlySet<string>;
  readonly leave: (fp: string, isOut: boolean) => void;
}

/** The interval of the chosen animals, its suspected values, those that are left out, and the button that stores it. */
function Computed({ subject, found, chosen, leftOut, leave, done }: ComputedProps) {
  const { run, error, isRunning } = useAction();
  const taken = chosen.filter(({ study_fp: fp }) => !leftOut.has(fp));
  const out = chosen.filter(({ study_fp: fp }) => leftOut.has(fp));
  const result = useMemo(() => ownInterval(taken.map(({ value }) => value)), [chosen.length, leftOut]);
  const store = () =>
    void run(async () => {
      const studies = chosen.map(({ study_fp: fp }) => fp);
      const body: ProposalBody = { ...subject, studies, left_out: [...leftOut] };
      await call("POST", `${clinicPath()}/ranges/own`, body);
      await done();
    });
  const suspected = result.state === "interval" ? result.outliers : [];
  return (
    <section aria-label={t("result")}>
      <h3>{t("result")}</h3>
      {result.state === "too equal" && <p role="alert">{t("tooEqual")}</p>}
      {result.state === "interval" && (
        <FoundIntervalView
          {...{ interval: result, numbers: numbersOf(found), now: found.now }}
          values={taken.map(({ value }) => value)}
          leftOut={out.map(({ value }) => value)}
        />
      )}
      {suspected.length > 0 && (
        <>
          <h4>{t("suspected")}</h4>
          <p class="quiet">{t("suspectedWhy")}</p>
        </>
      )}
      <ul class="plain-list">
        {suspected.map(({ index, tests }) => {
          const animal = taken[index];
          const why = tests.map((test) => t(test)).join(", ");
          return animal === undefined ? null : (
            <ValueLine key={animal.study_fp} {...{ animal, found, why }} action="leaveOut" leave={leave} />
          );
        })}
      </ul>
      {out.length > 0 && <h4>{t("leftOut")}</h4>}
      <ul class="plain-list">
        {out.map((animal) => (
          <ValueLine key={animal.study_fp} {...{ animal, found }} why={null} action="takeBack" leave={leave} />
        ))}
      </ul>
      {error !== undefined && <Problem error={error} />}
      {result.state === "interval" && (
        <p class="actions">
          <button type="button" class="primary" disabled={isRunning} onClick={store}>
            {t("propose")}
          </button>
        </p>
      )}
    </section>
  );
}

function changed(set: ReadonlySet<string>, fp: string, isOn: boolean): ReadonlySet<string> {
  const next = new Set(set);
  if (isOn) next.add(fp);
  else next.delete(fp);
  return next;
}

function ValueLine({
  animal,
  found,
  why,
  action,
  leave,
}: {
  readonly animal: OwnCandidate;
  readonly found: CandidatesShown;
  readonly why: string | null;
  readonly action: "leaveOut" | "takeBack";
  readonly leave: ComputedProps["leave"];
}) {
  const { name, acquired_at: at, study_fp: fp } = animal;
  const { written: value, typed } = writtenValue(animal, numbersOf(found));
  return (
    <li class="between">
      <span>
        <strong title={typed}>{value}</strong> {name}, <a href={`/dashboard/results/${fp}`}>{date(at)}</a>
        {why !== null && <span class="quiet"> {why}</span>}
      </span>
      <button
        type="button"
        aria-label={t(`${action}Of`, { name, value })}
        onClick={() => leave(fp, action === "leaveOut")}
      >
        {t(action)}
      </button>
    </li>
  );
}
