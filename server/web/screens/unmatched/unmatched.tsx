import { useState } from "preact/hooks";
import {
  type AssignPreview,
  type OutdatedStudy,
  UNMATCHED_MAX,
  type UnmatchedRow,
  type UnmatchedOrder,
  type UnmatchedDetails,
} from "../../../dashboard/types/results/unmatched.ts";
import { call } from "../../api.ts";
import { Empty, Loaded } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { ago } from "../../text.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { AnimalFromResult } from "../patients/animal/new-animal.tsx";
import { DeviceSaid } from "./device-said.tsx";
import { keysAreOn, useKeys } from "../../ui/form/use-keys.ts";
import { KeyHelp, KeySwitch } from "./key-help.tsx";
import { PlacePanel } from "./place-panel.tsx";
import { RejectDialog } from "./reject-dialog.tsx";
import { Parts } from "./parts.tsx";
import { t } from "./texts.ts";
import { type Unmatched, useUnmatched } from "./use-unmatched.ts";
import "./unmatched.css";

/** The screen on which a user assigns each unmatched study to its patient. */
// The study as shown when the dialog opened: the queue may move on during typing.
export function UnmatchedStudies() {
  const unmatched = useUnmatched();
  const [rejecting, setRejecting] = useState<UnmatchedDetails | undefined>(undefined);
  const [adding, setAdding] = useState<UnmatchedDetails | undefined>(undefined);
  const { study, preview } = unmatched;
  const mayAct = may("staff");
  const waits = study.data !== undefined && study.data.patient === null && study.data.rejected_reason === null;
  useKeys(keysAreOn.value, {
    j: () => unmatched.move(1),
    ArrowDown: () => unmatched.move(1),
    k: () => unmatched.move(-1),
    ArrowUp: () => unmatched.move(-1),
    ...(waits && candidateKeys(unmatched)),
    ...(mayAct && {
      u: () => void unmatched.undo(),
      ...(waits && {
        n: () => setAdding(study.data),
        r: () => setRejecting(study.data),
        Enter() {
          const { data } = preview;
          if (data?.contradicted_species === null && data.contradicted.length === 0) void unmatched.assign(data);
        },
      }),
    }),
  });
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t("title")}</h1>
          <Waiting count={unmatched.queue.data?.waiting} />
        </div>
        <KeySwitch />
      </div>
      <Parts at="studies" codes={unmatched.queue.data?.unknown_codes} />
      <Toolbar unmatched={unmatched} mayAct={mayAct} />
      {unmatched.last !== undefined && <Notice unmatched={unmatched} />}
      <Outdated studies={unmatched.queue.data?.outdated ?? []} />
      <Loaded of={unmatched.queue}>
        {({ studies }) =>
          unmatched.fp === undefined ? (
            <NothingHere unmatched={unmatched} />
          ) : (
            <div class="unmatched">
              <Queue unmatched={unmatched} studies={studies} />
              <Loaded of={study}>
                {(data) => (
                  <>
                    <DeviceSaid study={data} />
                    <PlacePanel
                      key={data.fp}
                      unmatched={unmatched}
                      study={data}
                      reject={() => setRejecting(data)}
                      add={() => setAdding(data)}
                    />
                  </>
                )}
              </Loaded>
            </div>
          )
        }
      </Loaded>
      {rejecting !== undefined && (
        <RejectDialog unmatched={unmatched} study={rejecting} close={() => setRejecting(undefined)} />
      )}
      {adding !== undefined && <NewAnimal unmatched={unmatched} study={adding} close={() => setAdding(undefined)} />}
    </>
  );
}

/** The form of a new animal from what the device said. Saving files the study; an animal of the clinic becomes the choice. */
function NewAnimal({ unmatched, study, close }: { unmatched: Unmatched; study: UnmatchedDetails; close: () => void }) {
  const { fp, revision } = study;
  const choose = async (patient: string) => {
    const { patient: shown } = await call<AssignPreview>("GET", `${clinicPath()}/unmatched/${fp}/preview/${patient}`);
    unmatched.choose(shown);
    close();
  };
  return (
    <AnimalFromResult
      result={{ fp, revision }}
      filed={(saved, name) => {
        close();
        unmatched.filed(fp, saved.revision ?? revision, name);
      }}
      use={(patient) => void choose(patient)}
      close={close}
    />
  );
}

function candidateKeys({ study, choose }: Unmatched): Record<string, () => void> {
  const candidates = study.data?.candidates ?? [];
  return Object.fromEntries(candidates.map(({ patient }, index) => [String(index + 1), () => choose(patient)]));
}

function Waiting({ count }: { count: number | undefined }) {
  return count === undefined || count === 0 ? null : <p>{t("wait", { count })}</p>;
}

function Toolbar({
  unmatched: { queue, isRejected, showRejected, order, setOrder },
  mayAct,
}: {
  unmatched: Unmatched;
  mayAct: boolean;
}) {
  const { waiting = 0, rejected = 0 } = queue.data ?? {};
  return (
    <div class="actions unmatched-toolbar">
      <button type="button" aria-pressed={!isRejected} onClick={() => showRejected(false)}>
        {t("waiting", { count: waiting })}
      </button>
      <button type="button" aria-pressed={isRejected} onClick={() => showRejected(true)}>
        {t("rejected", { count: rejected })}
      </button>
      <select
        aria-label={t("order")}
        value={order}
        onChange={({ currentTarget }) => setOrder(currentTarget.value as UnmatchedOrder)}
      >
        <option value="oldest">{t("oldest")}</option>
        <option value="newest">{t("newest")}</option>
      </select>
      <KeyHelp mayAct={mayAct} />
    </div>
  );
}

/** Shows the outcome of the last command, with its undo, whatever study the page has moved on to. */
function Notice({ unmatched: { last, undo, action } }: { unmatched: Unmatched }) {
  if (last === undefined) return null;
  return (
    <p class="note note-good between" role="status">
      <span>{last.name === null ? t("rejectedNotice") : t("filedNotice", { name: last.name })}</span>
      <button type="button" disabled={action.isRunning} onClick={() => void undo(last)}>
        {t("undo")}
      </button>
    </p>
  );
}

/** Lists the filed studies whose flags are based on other facts of their animal; the page of each one can flag it again. */
function Outdated({ studies }: { studies: readonly OutdatedStudy[] }) {
  if (studies.length === 0) return null;
  return (
    <section class="card" aria-labelledby="unmatched-outdated">
      <h2 id="unmatched-outdated">{t("outdated")}</h2>
      <ul>
        {studies.map((study) => (
          <li key={study.fp}>
            <a href={`/dashboard/results/${study.fp}`}>{study.patient_name}</a>{" "}
            <span class="quiet">
              {t("outdatedStudy", {
                before: studyWord(study.flagged_species),
                now: studyWord(study.patient_species),
                device: study.device_name,
              })}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function NothingHere({ unmatched: { isRejected } }: { unmatched: Unmatched }) {
  return isRejected ? (
    <Empty title={t("noneRejected")}>{t("noneRejectedNext")}</Empty>
  ) : (
    <Empty title={t("noneWaiting")}>{t("noneWaitingNext")}</Empty>
  );
}

function Queue({ unmatched, studies }: { unmatched: Unmatched; studies: readonly UnmatchedRow[] }) {
  const { waiting = 0, rejected = 0 } = unmatched.queue.data ?? {};
  const isCut = studies.length < (unmatched.isRejected ? rejected : waiting);
  return (
    <nav class="unmatched-queue" aria-label={t("queue")}>
      {studies.length === 0 && <NothingHere unmatched={unmatched} />}
      <ol>
        {studies.map((study) => (
          <li key={study.fp}>
            <a href={`/dashboard/to-place/${study.fp}`} aria-current={study.fp === unmatched.fp ? "true" : undefined}>
              <strong>{study.hint?.name ?? study.hint?.identifier ?? t("noName")}</strong>
              {study.hint?.species != null && <span> · {study.hint.species}</span>}
              <span class="quiet">
                {study.device_name} · {ago(study.received_at)}
              </span>
            </a>
          </li>
        ))}
      </ol>
      {isCut && <p class="quiet">{t("truncated", { count: UNMATCHED_MAX })}</p>}
    </nav>
  );
}
