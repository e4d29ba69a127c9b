import { useState } from "preact/hooks";
import { REMARK_CHARS_MAX, type RemarkBody, type StudyPage } from "../../../dashboard/types/results/results.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { dateTime, translations } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { formValues } from "../../ui/form/form.ts";
import { useAction } from "../../ui/form/use-action.ts";

interface RemarkProps {
  readonly study: StudyPage;
  readonly reload: () => Promise<void>;
}

/** The remark of a vet for the owner. It is in the report, and on the printed page. */
export function Remark({ study, reload }: RemarkProps) {
  const { remark, patient } = study;
  const [isOpen, setOpen] = useState(false);
  const canWrite = patient !== null && may("staff");
  if (remark === null && !canWrite) return null;
  return (
    <section class={remark === null ? "no-print" : undefined} aria-labelledby="remark">
      <h2 id="remark">{t("remark")}</h2>
      {remark !== null && !isOpen && (
        <>
          <p class="remark-text">{remark.text}</p>
          <p class="quiet">
            {remark.by}, <time dateTime={remark.at}>{dateTime(remark.at)}</time>
          </p>
        </>
      )}
      {isOpen ? (
        <RemarkForm study={study} reload={reload} close={() => setOpen(false)} />
      ) : (
        canWrite && (
          <p class="no-print">
            <button type="button" onClick={() => setOpen(true)}>
              {t(remark === null ? "write" : "edit")}
            </button>
          </p>
        )
      )}
    </section>
  );
}

function RemarkForm({ study, reload, close }: RemarkProps & { close: () => void }) {
  // The remark shown when the form opened: the server refuses to replace another.
  const [seen] = useState(study.remark);
  const { run, error, isRunning } = useAction();
  const submit = (event: SubmitEvent) => {
    const body: RemarkBody = { text: formValues(event)["text"] ?? "", seen: seen?.at ?? null };
    void run(async () => {
      await call("PUT", `${clinicPath()}/results/${study.fp}/remark`, body);
      await reload();
      close();
    });
  };
  return (
    <form class="no-print" onSubmit={submit}>
      <Field label={t("words")} hint={t("hint")}>
        <textarea name="text" rows={4} maxLength={REMARK_CHARS_MAX} defaultValue={seen?.text ?? ""} />
      </Field>
      {error !== undefined && <Problem error={error} />}
      <p class="actions">
        <button type="submit" disabled={isRunning}>
          {t("save")}
        </button>
        <button type="button" onClick={close}>
          {t("cancel")}
        </button>
      </p>
    </form>
  );
}

const t = translations({
  remark: ["Remark for the owner", "Hayvan sahibine not"],
  words: ["What the owner should know", "Hayvan sahibinin bilmesi gerekenler"],
  hint: [
    "It is in the report with your name. Without words it is removed.",
    "Raporda adınızla yer alır. Boş bırakılırsa kaldırılır.",
  ],
  write: ["Write a remark", "Not yaz"],
  edit: ["Edit the remark", "Notu düzenle"],
  save: ["Save the remark", "Notu kaydet"],
  cancel: ["Cancel", "Vazgeç"],
});
