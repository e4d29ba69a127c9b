import { useState } from "preact/hooks";
import type {
  DecisionBody,
  ListedProposal,
  OwnSubject,
  ProposalShown,
} from "../../../../../dashboard/types/settings/own-intervals.ts";
import { call } from "../../../../api.ts";
import { Empty, Loaded, Problem, useResource } from "../../../../resource.tsx";
import { clinicPath, may, session } from "../../../../session.ts";
import { date, language } from "../../../../text.ts";
import { CloseButton, Dialog } from "../../../../ui/form-dialog/dialog.tsx";
import { Field } from "../../../../ui/form/field.tsx";
import { useAction } from "../../../../ui/form/use-action.ts";
import { DataTable } from "../../../../ui/list/data-table.tsx";
import { Badge } from "../../../../ui/status/badge.tsx";
import { studyWord } from "../../../../ui/words/study-word.ts";
import { plainDate } from "../../../../ui/words/words.ts";
import { FoundIntervalView, methodText } from "./found-interval.tsx";
import { numbersOf } from "./numbers.ts";
import { t } from "./texts.ts";

/** The proposals, also decided ones, and a dialog with all that one is made of. */
export function ProposalList({ proposals, done }: { proposals: readonly ListedProposal[]; done: () => Promise<void> }) {
  const [opened, setOpened] = useState<ListedProposal | null>(null);
  if (proposals.length === 0) {
    return <Empty title={t("none")}>{t(may("staff") ? "noneNext" : "noneReader")}</Empty>;
  }
  return (
    <>
      <DataTable
        label={t("proposals")}
        class="cards"
        columns={[t("analyte"), t("animal"), [t("interval"), "number"], t("method"), t("made"), t("state"), t("open")]}
      >
        {proposals.map((proposal) => (
          <tr key={proposal.id}>
            <th scope="row">{proposal.subject.analyte}</th>
            <td>{subjectText(proposal.subject)}</td>
            <td class="number" title={numbersOf(proposal).typed(writerOf(proposal))}>
              {intervalText(proposal)}
            </td>
            <td>
              {proposal.interval.n}, {methodText(proposal.interval)}
            </td>
            <td>{t("madeBy", { by: proposal.made_by, at: date(proposal.made_at) })}</td>
            <td>
              <Decision of={proposal.decision} />
            </td>
            <td>
              <button
                type="button"
                aria-label={t("openOf", { subject: `${proposal.subject.analyte}, ${subjectText(proposal.subject)}` })}
                onClick={() => setOpened(proposal)}
              >
                {t("open")}
              </button>
            </td>
          </tr>
        ))}
      </DataTable>
      {opened !== null && <ProposalDialog listed={opened} close={() => setOpened(null)} done={done} />}
    </>
  );
}

function Decision({ of }: { of: ListedProposal["decision"] }) {
  if (of === null) return <Badge tone="new">{t("waits")}</Badge>;
  return (
    <Badge tone={of.accepted ? "active" : "done"}>
      {t(of.accepted ? "accepted" : "dismissed", { by: of.by, at: date(of.at) })}
    </Badge>
  );
}

function ProposalDialog({
  listed,
  close,
  done,
}: {
  readonly listed: ListedProposal;
  readonly close: () => void;
  readonly done: () => Promise<void>;
}) {
  const proposal = useResource<ProposalShown>(`/ranges/own/${listed.id}`, clinicPath(), false);
  const { run, error, isRunning } = useAction();
  const [by, setBy] = useState(session.value?.state === "signed in" ? session.value.user.name : "");
  const decide = (accepted: boolean) =>
    void run(async () => {
      const body: DecisionBody = { accepted, by, language: language.value };
      await call("POST", `${clinicPath()}/ranges/own/${listed.id}/decide`, body);
      await done();
      close();
    });
  const isOpen = listed.decision === null && may("admin");
  return (
    <Dialog
      title={`${listed.subject.analyte}, ${subjectText(listed.subject)}`}
      close={close}
      class="own-dialog"
      {...(isOpen && {
        submit: (event: SubmitEvent) => {
          event.preventDefault();
          decide(true);
        },
      })}
      foot={
        <>
          <CloseButton />
          {isOpen && (
            <>
              <button type="button" disabled={isRunning || by.trim() === ""} onClick={() => decide(false)}>
                {t("dismiss")}
              </button>
              <button type="submit" class="primary" disabled={isRunning || by.trim() === ""}>
                {t("accept")}
              </button>
            </>
          )}
        </>
      }
    >
      <p>
        <Decision of={listed.decision} /> {t("made")}: {t("madeBy", { by: listed.made_by, at: date(listed.made_at) })}
      </p>
      {listed.decision?.row_id != null && <p>{t("row", { id: listed.decision.row_id })}</p>}
      <Loaded of={proposal}>{(shown) => <Details of={shown} />}</Loaded>
      {isOpen && (
        <>
          <p>{t("acceptWhy")}</p>
          <VetName value={by} set={setBy} />
        </>
      )}
      {listed.decision === null && !may("admin") && <p class="quiet">{t("adminDecides")}</p>}
      {error !== undefined && <Problem error={error} />}
    </Dialog>
  );
}

function VetName({ value, set }: { value: string; set: (name: string) => void }) {
  return (
    <Field label={t("by")} hint={t("byHint")}>
      <input
        value={value}
        maxLength={100}
        required
        autocomplete="off"
        onInput={({ currentTarget }: { currentTarget: HTMLInputElement }) => set(currentTarget.value)}
      />
    </Field>
  );
}

function Details({ of }: { of: ProposalShown }) {
  const { values, left_out: leftOut, interval, now, decision } = of;
  const numbers = numbersOf(of);
  const written = (value: number) => (
    <span title={numbers.typed((number, unit) => `${number(value)} ${unit}`)}>
      {numbers.value(value)} {numbers.unit}
    </span>
  );
  return (
    <>
      <FoundIntervalView
        {...{ interval, now, numbers }}
        isDecided={decision !== null}
        values={values.map(({ value }) => value)}
        leftOut={leftOut.map(({ value }) => value)}
      />
      {interval.outliers.length > 0 && (
        <>
          <h3>{t("suspected")}</h3>
          <ul>
            {interval.outliers.map(({ index, tests }) => (
              <li key={index}>
                <a href={`/dashboard/results/${values[index]?.study_fp ?? ""}`}>{written(values[index]?.value ?? 0)}</a>{" "}
                {tests.map((test) => t(test)).join(", ")}
              </li>
            ))}
          </ul>
        </>
      )}
      {leftOut.length > 0 && (
        <>
          <h3>{t("leftOut")}</h3>
          <ul>
            {leftOut.map(({ study_fp: fp, acquired_at: at, value, by }) => (
              <li key={fp}>
                <a href={`/dashboard/results/${fp}`}>{written(value)}</a>, {date(at)}, {t("leftOutBy", { by })}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Writes the interval in the reader's unit. */
function intervalText(proposal: ListedProposal): string {
  const { bound, unit } = numbersOf(proposal);
  return writerOf(proposal)(bound, unit);
}

function writerOf({ interval: { low, high } }: ListedProposal) {
  return (written: (value: number) => string, unit: string) => `${written(low.value)}-${written(high.value)} ${unit}`;
}

function subjectText({ animal, device, age_from: from, age_to: to, from: first, to: last }: OwnSubject): string {
  const time = `${plainDate(first)} – ${plainDate(last)}`;
  return [studyWord(animal), agesText(from, to), device, time].filter(Boolean).join(", ");
}

/** Writes the ages of animals; "" for any age. */
function agesText(from: number | null, to: number | null): string {
  if (from !== null && to !== null) return t("years", { from: years(from), to: years(to) });
  if (from !== null) return t("yearsFrom", { from: years(from) });
  return to === null ? "" : t("yearsTo", { to: years(to) });
}

function years(days: number): string {
  return String(Math.round((days / 365.25) * 10) / 10);
}
