import { isOpen, type RecordContent, type RecordDetail } from "../../../dashboard/types/records.ts";
import { Problem } from "../../resource.tsx";
import { Field } from "../../ui/form/field.tsx";
import { t } from "./texts.ts";
import type { Draft } from "./use-draft.ts";

// The four texts of a record, as text or as fields.

const TEXT_CHARS_MAX = 100_000;

const fields = ["subjective", "objective", "assessment", "plan"] as const;
const hints = {
  subjective: "subjectiveHint",
  objective: "objectiveHint",
  assessment: "assessmentHint",
  plan: "planHint",
} as const;

/** The text of the user's own record. Text that was not saved stays visible, also after another user signs the record. */
export function RecordText({ record, draft }: { record: RecordDetail; draft: Draft }) {
  if (isOpen(record.status)) return <Editor draft={draft} />;
  return (
    <>
      {draft.unsaved.length > 0 && (
        <div class="problem record-unsaved" role="alert">
          <strong>{t("closedMeanwhile")}</strong>
          {draft.unsaved.map((name) => (
            <div key={name}>
              <h2>{name === "soap_type" ? t("type") : t(name)}</h2>
              <p class="record-text">{draft.typed[name]}</p>
            </div>
          ))}
          <button type="button" onClick={() => draft.takeTheirs(record)}>
            {t("dropMine")}
          </button>
        </div>
      )}
      <WrittenText record={record} />
    </>
  );
}

export function WrittenText({ record }: { record: RecordContent }) {
  return (
    <div class="card record-body">
      {fields.map((name) => (
        <section key={name}>
          <h2>{t(name)}</h2>
          {record[name] === null ? (
            <p class="quiet record-text">{t("nothing")}</p>
          ) : (
            <p class="record-text">{record[name]}</p>
          )}
        </section>
      ))}
    </div>
  );
}

function Editor({ draft }: { draft: Draft }) {
  const { typed, type, unsaved, conflict, save } = draft;
  return (
    <form
      class="card record-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field label={t("type")} hint={t("typeHint")}>
        <input
          value={typed.soap_type}
          maxLength={64}
          autocomplete="off"
          onInput={({ currentTarget }) => type("soap_type", currentTarget.value)}
          onBlur={() => conflict === null && void save()}
        />
      </Field>
      {fields.map((name) => (
        <div key={name}>
          <Field label={t(name)} hint={t(hints[name])}>
            <textarea
              value={typed[name]}
              maxLength={TEXT_CHARS_MAX}
              onInput={({ currentTarget }) => type(name, currentTarget.value)}
              onBlur={() => conflict === null && void save()}
            />
          </Field>
          {conflict !== null && unsaved.includes(name) && (
            <div class="record-stored">
              <strong>{t("stored")}</strong>
              <p class="record-text">{conflict[name] ?? t("nothing")}</p>
            </div>
          )}
        </div>
      ))}
      {draft.error !== undefined && <Problem error={draft.error} retry={save} />}
      {conflict === null ? <SaveState draft={draft} /> : <Conflict draft={draft} />}
    </form>
  );
}

function SaveState({ draft: { unsaved, isSaving } }: { draft: Draft }) {
  return (
    <p class="actions">
      <button type="submit" disabled={unsaved.length === 0 || isSaving}>
        {t("save")}
      </button>
      <span class="quiet" role="status">
        {t(isSaving ? "saving" : unsaved.length > 0 ? "unsaved" : "saved")}
      </span>
    </p>
  );
}

function Conflict({ draft }: { draft: Draft }) {
  const { conflict } = draft;
  if (conflict === null) return null;
  return (
    <div class="problem" role="alert">
      <strong>{t("conflict")}</strong>
      <p class="actions">
        <button type="button" onClick={() => void draft.keepMine()}>
          {t("keepMine")}
        </button>
        <button type="button" onClick={() => draft.takeTheirs(conflict)}>
          {t("takeTheirs")}
        </button>
      </p>
    </div>
  );
}
