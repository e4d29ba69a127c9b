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
import { KeyHelp, keysAreOn } from "./key-help.tsx";
import { PlacePanel } from "./place-panel.tsx";
import { RejectDialog } from "./reject-dialog.tsx";
import { Parts } from "./parts.tsx";
import { t } from "./texts.ts";
import { type Desk, useDesk } from "./use-desk.ts";
import { useKeys } from "./use-keys.ts";
import "./to-place.css";

/** The desk where a user gives each unmatched study its patient. */
export function ToPlace() {
  const desk = useDesk();
  // The study as it was when the dialog opened: the queue may move while the reason is typed.
  const [rejecting, setRejecting] = useState<UnmatchedDetails | undefined>(undefined);
  const [adding, setAdding] = useState<UnmatchedDetails | undefined>(undefined);
  const { study, preview } = desk;
  const mayAct = may("staff");
  const waits = study.data !== undefined && study.data.patient === null && study.data.rejected_reason === null;
  useKeys(keysAreOn.value, {
    j: () => desk.move(1),
    ArrowDown: () => desk.move(1),
    k: () => desk.move(-1),
    ArrowUp: () => desk.move(-1),
    ...(waits && candidateKeys(desk)),
    ...(mayAct && {
      u: () => void desk.undo(),
      ...(waits && {
        n: () => setAdding(study.data),
        r: () => setRejecting(study.data),
        Enter() {
          if (preview.data?.contradicted_species === null) void desk.assign(preview.data);
        },
      }),
    }),
  });
  return (
    <>
      <h1>{t("title")}</h1>
      <Parts at="studies" />
      <Toolbar desk={desk} />
      <KeyHelp mayAct={mayAct} />
      {desk.last !== undefined && <Notice desk={desk} />}
      <Outdated studies={desk.queue.data?.outdated ?? []} />
      <Loaded of={desk.queue}>
        {({ studies }) =>
          desk.fp === undefined ? (
            <NothingHere desk={desk} />
          ) : (
            <div class="desk">
              <Queue desk={desk} studies={studies} />
              <Loaded of={study}>
                {(data) => (
                  <>
                    <DeviceSaid study={data} />
                    <PlacePanel
                      key={data.fp}
                      desk={desk}
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
      {rejecting !== undefined && <RejectDialog desk={desk} study={rejecting} close={() => setRejecting(undefined)} />}
      {adding !== undefined && <NewAnimal desk={desk} study={adding} close={() => setAdding(undefined)} />}
    </>
  );
}

/** The form of a new animal from what the device said. Saving files the study; an animal of the clinic becomes the choice. */
function NewAnimal({ desk, study, close }: { desk: Desk; study: UnmatchedDetails; close: () => void }) {
  const { fp, revision } = study;
  const choose = async (patient: string) => {
    const { patient: shown } = await call<AssignPreview>("GET", `${clinicPath()}/to-place/${fp}/preview/${patient}`);
    desk.choose(shown);
    close();
  };
  return (
    <AnimalFromResult
      result={{ fp, revision }}
      filed={(saved, name) => {
        close();
        desk.filed(fp, saved.revision ?? revision, name);
      }}
      use={(patient) => void choose(patient)}
      close={close}
    />
  );
}

function candidateKeys({ study, choose }: Desk): Record<string, () => void> {
  const candidates = study.data?.candidates ?? [];
  return Object.fromEntries(candidates.map(({ patient }, index) => [String(index + 1), () => choose(patient)]));
}

function Toolbar({ desk: { queue, isRejected, showRejected, order, setOrder } }: { desk: Desk }) {
  const { waiting = 0, rejected = 0 } = queue.data ?? {};
  return (
    <div class="actions desk-toolbar">
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
    </div>
  );
}

/** Says what the last command did, and offers its undo. */
function Notice({ desk: { last, undo, action } }: { desk: Desk }) {
  if (last === undefined) return null;
  return (
    <p class="note note-good between" role="status">
      <span>{last.name === null ? t("rejectedNotice") : t("filedNotice", { name: last.name })}</span>
      <button type="button" disabled={action.isRunning} onClick={() => void undo()}>
        {t("undo")}
      </button>
    </p>
  );
}

/** Lists the filed studies that have flags for other facts of their animal; each page offers to flag again. */
function Outdated({ studies }: { studies: readonly OutdatedStudy[] }) {
  if (studies.length === 0) return null;
  return (
    <section class="card" aria-labelledby="desk-outdated">
      <h2 id="desk-outdated">{t("outdated")}</h2>
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

function NothingHere({ desk: { isRejected } }: { desk: Desk }) {
  return isRejected ? (
    <Empty title={t("noneRejected")}>{t("noneRejectedNext")}</Empty>
  ) : (
    <Empty title={t("noneWaiting")}>{t("noneWaitingNext")}</Empty>
  );
}

function Queue({ desk, studies }: { desk: Desk; studies: readonly UnmatchedRow[] }) {
  const { waiting = 0, rejected = 0 } = desk.queue.data ?? {};
  const isCut = studies.length < (desk.isRejected ? rejected : waiting);
  return (
    <nav class="desk-queue" aria-label={t("queue")}>
      {studies.length === 0 && <NothingHere desk={desk} />}
      <ol>
        {studies.map((study) => (
          <li key={study.fp}>
            <a href={`/dashboard/to-place/${study.fp}`} aria-current={study.fp === desk.fp ? "true" : undefined}>
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
