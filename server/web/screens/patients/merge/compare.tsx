import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import type { ComparedAnimal, MergeBody, MergeComparison, Written } from "../../../../dashboard/types/animals.ts";
import { call } from "../../../api.ts";
import { Loaded, Problem, useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { Badge } from "../../../ui/status/badge.tsx";
import { plainDate, word } from "../../../ui/words/words.ts";
import { numberWord } from "../animal/texts.ts";
import { LIST, notice } from "../animal/undo.tsx";
import { t } from "./texts.ts";

const COUNTS = ["studies", "soap_records", "events", "orders"] as const;

/** Both animals side by side, the choice of the one that stays, and what moves to it. */
export function Compare({ fp, other, back }: { fp: string; other: string; back: string }) {
  // The animals are read once: changes of another user meanwhile are refused.
  const path = `/patients/${encodeURIComponent(fp)}/merge/${encodeURIComponent(other)}`;
  const compared = useResource<MergeComparison>(path, clinicPath(), false);
  return (
    <>
      <p>
        <a href={back}>{t("another")}</a>
      </p>
      <Loaded of={compared}>{(comparison) => <Choice key={comparison.version} of={comparison} />}</Loaded>
    </>
  );
}

function Choice({ of: { animals, is_other_species, version } }: { of: MergeComparison }) {
  const { route } = useLocation();
  const { run, error, isRunning } = useAction();
  const [first, second] = animals;
  const [staying, setStaying] = useState(weight(second) > weight(first) ? second.fp : first.fp);
  const [stays, gone] = staying === first.fp ? [first, second] : [second, first];
  const merge = async () => {
    const body: MergeBody = { merged: gone.fp, version };
    const { batch } = await call<Written>("POST", `${clinicPath()}/patients/${stays.fp}/merge`, body);
    const [name, other] = [stays.animal.name, gone.animal.name];
    const text = name === other ? t("namesake", { name }) : t("merged", { name, gone: other });
    notice.value = { at: `${LIST}/${stays.fp}`, text, batch };
    route(`${LIST}/${stays.fp}`);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void run(merge);
      }}
    >
      <fieldset class="merge">
        <legend>{t("which")}</legend>
        <div class="table-frame">
          <Table animals={animals} staying={staying} choose={setStaying} />
        </div>
      </fieldset>
      {is_other_species && <p class="note note-bad">{t("otherSpecies")}</p>}
      {!is_other_species && gone.is_shared && (
        <p class="note note-bad" role="alert">
          {t("shared", { name: gone.animal.name })}
        </p>
      )}
      {!is_other_species && !gone.is_shared && <Moves stays={stays} gone={gone} />}
      {error !== undefined && <Problem error={error} />}
      <p class="actions">
        <button type="submit" class="primary" disabled={isRunning || is_other_species || gone.is_shared}>
          {t("merge")}
        </button>
        <a href={`${LIST}/${first.fp}`}>{t("back", { name: first.animal.name })}</a>
      </p>
    </form>
  );
}

/** The one that other clinics see stays, else the one with more records, else the one whose page it is. */
function weight({ is_shared, counts }: ComparedAnimal): number {
  return (is_shared ? 1e9 : 0) + COUNTS.reduce((sum, name) => sum + counts[name], 0);
}

function Table({
  animals,
  staying,
  choose,
}: {
  animals: MergeComparison["animals"];
  staying: string;
  choose: (fp: string) => void;
}) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">
            <span class="visually-hidden">{t("fact")}</span>
          </th>
          {animals.map(({ fp, animal: { name }, is_deceased }) => (
            <th key={fp} scope="col">
              <a href={`${LIST}/${fp}`} target="_blank" rel="noopener" aria-label={t("look", { name })}>
                {name}
              </a>{" "}
              {is_deceased && <Badge tone="done">{t("deceased")}</Badge>}
              <label class="check">
                <input type="radio" name="stays" checked={fp === staying} onChange={() => choose(fp)} />
                <span>
                  <span class="visually-hidden">{describe(animals, fp)}</span> {t("stays")}
                </span>
              </label>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rowsOf(animals).map(({ name, values, isCount }) => {
          const isOther = !isCount && values[0] !== values[1];
          return (
            <tr key={name} class={isOther ? "merge-other" : undefined}>
              <th scope="row">
                {name} {isOther && <Badge tone="warning">{t("differs")}</Badge>}
              </th>
              <td>{values[0] === "" ? "–" : values[0]}</td>
              <td>{values[1] === "" ? "–" : values[1]}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Tells two namesakes apart, for the label of a choice. */
function describe(animals: MergeComparison["animals"], fp: string): string {
  const one = animals.find((animal) => animal.fp === fp);
  return [one?.animal.name, one?.owner.name, one?.animal.identifiers[0]?.value]
    .filter((fact) => fact !== null && fact !== undefined)
    .join(", ");
}

interface Row {
  readonly name: string;
  readonly values: readonly [string | number, string | number];
  readonly isCount: boolean;
}

/** The facts of both, without those that neither has. */
function rowsOf([one, other]: MergeComparison["animals"]): Row[] {
  const facts: [string, (animal: ComparedAnimal) => string][] = [
    [t("species"), ({ animal }) => word(animal.species)],
    [t("breed"), ({ animal }) => animal.breed ?? ""],
    [t("sex"), ({ animal }) => (animal.sex === null ? "" : word(animal.sex))],
    [t("born"), ({ animal }) => (animal.date_of_birth === null ? "" : plainDate(animal.date_of_birth))],
    [t("weight"), ({ animal }) => (animal.weight_kg === null ? "" : `${animal.weight_kg} kg`)],
    [t("owner"), ({ owner }) => [owner.name, owner.phone].filter((fact) => fact !== null).join(", ")],
    [t("numbers"), ({ animal }) => animal.identifiers.map(numberText).join(", ")],
    [t("sources"), ({ sources }) => sources.join(", ")],
  ];
  const shown = facts.map(([name, read]): Row => ({ name, values: [read(one), read(other)], isCount: false }));
  const counts = COUNTS.map((name): Row => {
    return { name: t(name), values: [one.counts[name], other.counts[name]], isCount: true };
  });
  return [...shown, ...counts].filter(({ values }) => values.some((value) => value !== "" && value !== 0));
}

function numberText({ type, value }: ComparedAnimal["animal"]["identifiers"][number]): string {
  return type === null ? value : `${numberWord(type)} ${value}`;
}

/** Names what goes to the one that stays. It changes with the choice. */
function Moves({ stays, gone }: { stays: ComparedAnimal; gone: ComparedAnimal }) {
  const moved = COUNTS.filter((name) => gone.counts[name] > 0);
  const what = moved.map((name) => t("count", { name: t(name), count: gone.counts[name] })).join(", ");
  const known = new Set(stays.animal.identifiers.map(({ value }) => value));
  const numbers = gone.animal.identifiers.filter(({ value }) => !known.has(value)).map(({ value }) => value);
  return (
    <section class="card merge-moves" aria-labelledby="moves" aria-live="polite">
      <h2 id="moves">{t("moves")}</h2>
      <ul>
        <li>{moved.length === 0 ? t("movesNothing") : t("movesAll", { what })}</li>
        {numbers.length > 0 && <li>{t("movesNumbers", { numbers: numbers.join(", ") })}</li>}
        <li>{t("factsStay")}</li>
        <li>{t("leaves")}</li>
      </ul>
    </section>
  );
}
