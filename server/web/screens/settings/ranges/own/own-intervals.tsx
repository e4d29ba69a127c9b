import { useState } from "preact/hooks";
import type { TypedAnalyte } from "../../../../../dashboard/types/results/manual-study.ts";
import {
  OWN_ANIMALS,
  type OwnAnimal,
  type CandidatesShown,
  type OwnSubject,
  type Proposals,
} from "../../../../../dashboard/types/settings/own-intervals.ts";
import { call } from "../../../../api.ts";
import { Loaded, Problem, useResource } from "../../../../resource.tsx";
import { clinicPath, may } from "../../../../session.ts";
import { Field } from "../../../../ui/form/field.tsx";
import { useAction } from "../../../../ui/form/use-action.ts";
import { studyWord } from "../../../../ui/words/study-word.ts";
import { dayOf } from "../../../../ui/words/words.ts";
import { ChooseAnimals } from "./choose-animals.tsx";
import { ProposalList } from "./proposals.tsx";
import { t } from "./texts.ts";
import "./own.css";

const YEAR_DAYS = 365.25;

/** Intervals that the clinic computes from its own healthy animals: the staff proposes, a vet accepts. */
export function OwnIntervals({ reloadRanges }: { reloadRanges: () => Promise<void> }) {
  const proposals = useResource<Proposals>("/ranges/own");
  const [isStored, setStored] = useState(false);
  const reload = async () => {
    await Promise.all([proposals.reload(), reloadRanges()]);
  };
  return (
    <section id="own-intervals" class="own-intervals" aria-labelledby="own-title">
      <h2 id="own-title">{t("title")}</h2>
      <p class="quiet">{t("intro")}</p>
      {may("staff") && (
        <Search
          stored={async () => {
            setStored(true);
            await reload();
          }}
        />
      )}
      <h3>{t("proposals")}</h3>
      {isStored && (
        <p class="note note-good" role="status">
          {t("stored")}
        </p>
      )}
      <Loaded of={proposals}>{(listed) => <ProposalList proposals={listed.proposals} done={reload} />}</Loaded>
    </section>
  );
}

/** The fields of the form. Ages are in years, as typed. */
interface Asked {
  readonly animal: OwnAnimal;
  readonly analyte: string;
  readonly from: string;
  readonly to: string;
  readonly ageFrom: string;
  readonly ageTo: string;
}

/** Adult dogs of the last two years. */
function newSearch(): Asked {
  const [from, to] = [new Date(Date.now() - 730 * 86_400_000), new Date()].map((day) => dayOf(day.toISOString()));
  return { animal: "dog", analyte: "ALT", from: from ?? "", to: to ?? "", ageFrom: "1", ageTo: "" };
}

/** The form that searches the animals, and the animals of the last search. */
function Search({ stored }: { stored: () => Promise<void> }) {
  const [asked, setAsked] = useState<Asked>(newSearch);
  const [found, setFound] = useState<{ subject: OwnSubject; animals: CandidatesShown; key: number } | null>(null);
  const { run, error, isRunning } = useAction();
  const search = (device: string | null) => {
    const { ageFrom, ageTo, ...rest } = asked;
    const subject: OwnSubject = { ...rest, device, age_from: daysOf(ageFrom), age_to: daysOf(ageTo) };
    const given = Object.entries(subject).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
    const query = new URLSearchParams(given).toString();
    void run(async () => {
      const animals = await call<CandidatesShown>("GET", `${clinicPath()}/ranges/own/candidates?${query}`);
      setFound({ subject, animals, key: (found?.key ?? 0) + 1 });
    });
  };
  return (
    <details class="card range-import">
      <summary>{t("make")}</summary>
      <form
        onSubmit={(event: SubmitEvent) => {
          event.preventDefault();
          search(null);
        }}
      >
        <SearchFields of={asked} set={setAsked} />
        <p class="actions">
          <button type="submit" disabled={isRunning}>
            {t("search")}
          </button>
        </p>
      </form>
      {error !== undefined && <Problem error={error} />}
      {found !== null && (
        <>
          {found.animals.devices.length > 1 && (
            <DeviceChoice
              chosen={found.subject.device}
              devices={found.animals.devices}
              isDisabled={isRunning}
              choose={search}
            />
          )}
          <ChooseAnimals
            key={found.key}
            subject={found.subject}
            found={found.animals}
            done={async () => {
              setFound(null);
              await stored();
            }}
          />
        </>
      )}
    </details>
  );
}

function SearchFields({ of, set }: { of: Asked; set: (asked: Asked) => void }) {
  const catalogue = useResource<TypedAnalyte[]>("/manual-study/analytes", clinicPath(), false);
  const numeric = (catalogue.data ?? []).filter(({ value_type: type }) => type === "numeric").map(({ code }) => code);
  return (
    <div class="own-fields">
      <Field label={t("animal")}>
        <select
          value={of.animal}
          onChange={({ currentTarget }: { currentTarget: HTMLSelectElement }) =>
            set({ ...of, animal: OWN_ANIMALS.find((each) => each === currentTarget.value) ?? "dog" })
          }
        >
          {OWN_ANIMALS.map((each) => (
            <option key={each} value={each}>
              {studyWord(each)}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t("analyte")}>
        <select
          value={of.analyte}
          onChange={({ currentTarget }: { currentTarget: HTMLSelectElement }) =>
            set({ ...of, analyte: currentTarget.value })
          }
        >
          {numeric.toSorted().map((code) => (
            <option key={code} value={code}>
              {code}
            </option>
          ))}
        </select>
      </Field>
      <Day label={t("from")} value={of.from} set={(from) => set({ ...of, from })} />
      <Day label={t("to")} value={of.to} set={(to) => set({ ...of, to })} />
      <Age label={t("ageFrom")} hint={t("ageHint")} value={of.ageFrom} set={(ageFrom) => set({ ...of, ageFrom })} />
      <Age label={t("ageTo")} value={of.ageTo} set={(ageTo) => set({ ...of, ageTo })} />
    </div>
  );
}

function DeviceChoice({
  chosen,
  devices,
  isDisabled,
  choose,
}: {
  readonly chosen: string | null;
  readonly devices: readonly string[];
  readonly isDisabled: boolean;
  readonly choose: (device: string | null) => void;
}) {
  return (
    <Field label={t("device")} hint={t("deviceHint")}>
      <select
        class="own-device"
        value={chosen ?? ""}
        disabled={isDisabled}
        onChange={({ currentTarget }: { currentTarget: HTMLSelectElement }) =>
          choose(currentTarget.value === "" ? null : currentTarget.value)
        }
      >
        <option value="">{t("everyDevice")}</option>
        {devices.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface InputProps {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
}

function Day({ label, value, set }: InputProps) {
  return (
    <Field label={label}>
      <input
        type="date"
        value={value}
        required
        onInput={({ currentTarget }: { currentTarget: HTMLInputElement }) => set(currentTarget.value)}
      />
    </Field>
  );
}

function Age({ label, hint, value, set }: InputProps & { readonly hint?: string }) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      <input
        type="number"
        min="0"
        max="200"
        step="any"
        value={value}
        onInput={({ currentTarget }: { currentTarget: HTMLInputElement }) => set(currentTarget.value)}
      />
    </Field>
  );
}

/** Reads an age in years. One year is 366 days, from which adult intervals apply. @returns null without one */
function daysOf(years: string): number | null {
  return Number(years) > 0 ? Math.ceil(Number(years) * YEAR_DAYS) : null;
}
