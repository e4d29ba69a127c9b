import { useLocation, useRoute } from "preact-iso";
import { useState } from "preact/hooks";
import { isOpen, type RecordDetail, type RecordMove } from "../../../dashboard/types/records.ts";
import { call } from "../../api.ts";
import { Loaded, Problem, useResource } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { Facts } from "../../ui/status/facts.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { RecordText, WrittenText } from "./record-text.tsx";
import { statusName, t, typeName } from "./texts.ts";
import { type Draft, useDraft } from "./use-draft.ts";
import "./records.css";

/** One SOAP record: its text, its steps to the signature, and its corrections. */
export function RecordScreen() {
  const { fp = "" } = useRoute().params;
  const record = useResource<RecordDetail>(`/records/${fp}`);
  return (
    <Loaded of={record}>
      {(data) =>
        data.is_own && may("staff") ? (
          <OwnRecord key={data.fp} record={data} reload={record.reload} />
        ) : (
          <>
            <RecordHead record={data} />
            {!data.is_own && <p class="quiet">{t("readOnly", { clinic: data.clinic.name })}</p>}
            <WrittenText record={data} />
          </>
        )
      }
    </Loaded>
  );
}

function OwnRecord({ record, reload }: { record: RecordDetail; reload: () => Promise<void> }) {
  const draft = useDraft(record);
  return (
    <>
      <RecordHead record={record} />
      <RecordText record={record} draft={draft} />
      <Moves record={record} draft={draft} reload={reload} />
    </>
  );
}

function RecordHead({ record }: { record: RecordDetail }) {
  const { patient, clinic, amends_fp, amended_by } = record;
  return (
    <header class="record-head">
      <h1>
        {patient.name} <span class="quiet">{studyWord(patient.species)}</span>
      </h1>
      <p class="actions">
        <Badge tone={isOpen(record.status) ? "active" : "done"}>{statusName(record.status)}</Badge>
        <span>{typeName(record.soap_type)}</span>
        <a href={`/dashboard/patients/${patient.fp}`}>{t("toPatient")}</a>
      </p>
      <Facts
        of={[
          [t("clinic"), clinic.name],
          [t("written"), dateTime(record.created_at)],
          [t("signed"), record.signed_at && dateTime(record.signed_at)],
        ]}
      />
      {amends_fp !== null && (
        <p>
          {t("amends")} <a href={`/dashboard/records/${amends_fp}`}>{t("anEarlier")}</a>
        </p>
      )}
      {amended_by.length > 0 && (
        <p>
          {t("amendedBy")}{" "}
          {amended_by.map(({ fp, created_at, status }) => (
            <a key={fp} class="record-amendment" href={`/dashboard/records/${fp}`}>
              {dateTime(created_at)} ({statusName(status)})
            </a>
          ))}
        </p>
      )}
    </header>
  );
}

function Moves({ record, draft, reload }: { record: RecordDetail; draft: Draft; reload: () => Promise<void> }) {
  const { route } = useLocation();
  const { run, retry, error, isRunning } = useAction();
  const [asked, ask] = useState<RecordMove | null>(null);
  const path = `${clinicPath()}/records/${record.fp}`;
  const move = async (to: RecordMove) => {
    await call("POST", `${path}/move`, to);
    await reload();
  };
  // A signature applies to the stored text, so unsaved text is stored first. It applies to the version that the user reads when
  // asked: the page shows a newer one of a colleague without a word.
  const afterSave = async (to: RecordMove["to"], then: (move: RecordMove) => unknown) => {
    if (await draft.save()) await then({ version: draft.version(), to });
  };
  const amend = async () => {
    const { fp } = await call<RecordDetail>("POST", `${path}/amend`, {});
    route(`/dashboard/records/${fp}`);
  };
  const isBusy = isRunning || draft.conflict !== null;
  const next = record.next_status;
  const openAmendment = record.amended_by.some(({ status }) => isOpen(status));
  return (
    <>
      {error !== undefined && <Problem error={error} retry={retry} />}
      <p class="actions">
        {next === "IN_PROGRESS" && (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void run(() => afterSave(next, move))}>
            {t("begin")}
          </button>
        )}
        {next === "SIGNED" && (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void afterSave(next, ask)}>
            {t("sign")}
          </button>
        )}
        {next === "LOCKED" && (
          <button type="button" disabled={isBusy} onClick={() => void afterSave(next, ask)}>
            {t("lock")}
          </button>
        )}
        {!isOpen(record.status) && !openAmendment && (
          <button type="button" disabled={isBusy} onClick={() => void run(amend)}>
            {t("amend")}
          </button>
        )}
      </p>
      {asked !== null && (
        <FormDialog
          title={t(asked.to === "SIGNED" ? "signTitle" : "lockTitle")}
          button={t(asked.to === "SIGNED" ? "sign" : "lock")}
          act={() => move(asked)}
          close={() => ask(null)}
        >
          <p>{t(asked.to === "SIGNED" ? "signText" : "lockText")}</p>
        </FormDialog>
      )}
    </>
  );
}
