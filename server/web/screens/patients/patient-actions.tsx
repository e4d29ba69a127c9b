import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import type { DeceasedBody, Written } from "../../../dashboard/types/animals.ts";
import type { PatientOverview } from "../../../dashboard/types/patients.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { translations } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { dayOf } from "../../ui/words/words.ts";
import { CloseConnection } from "./connection.tsx";
import { LIST, notice } from "./animal/undo.tsx";

type Asked = "deceased" | "remove" | "close";

/** The actions of staff on a patient: change it, note its death, remove it, close the connection. */
export function PatientActions({ overview, reload }: { overview: PatientOverview; reload: () => Promise<void> }) {
  const [asked, ask] = useState<Asked | null>(null);
  const { run, retry, error, isRunning } = useAction();
  const { patient, deceased_at, is_shared } = overview;
  const { fp, name } = patient;
  const end = () => ask(null);
  const setDeceased = async (body: DeceasedBody) => {
    const { batch } = await call<Written>("PUT", `${clinicPath()}/patients/${fp}/deceased`, body);
    notice.value = { at: `${LIST}/${fp}`, text: t(body.died_on === null ? "livesNoted" : "deathNoted"), batch };
    await reload();
  };
  return (
    <>
      <p class="actions no-print">
        <a class="button" href={`/dashboard/patients/${fp}/edit`}>
          {t("edit")}
        </a>
        {deceased_at === null ? (
          <button type="button" onClick={() => ask("deceased")}>
            {t("deceased")}
          </button>
        ) : (
          <button type="button" disabled={isRunning} onClick={() => void run(() => setDeceased({ died_on: null }))}>
            {t("lives")}
          </button>
        )}
        <a class="button" href={`/dashboard/patients/${fp}/merge`}>
          {t("merge")}
        </a>
        {/* An animal that other clinics see is theirs too: this clinic can only leave it. */}
        {!is_shared && (
          <button type="button" onClick={() => ask("remove")}>
            {t("remove")}
          </button>
        )}
        <button type="button" onClick={() => ask("close")}>
          {t("close")}
        </button>
      </p>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {asked === "deceased" && <Deceased name={name} set={setDeceased} close={end} />}
      {asked === "remove" && <Remove fp={fp} name={name} close={end} />}
      {asked === "close" && <CloseConnection fp={fp} name={name} close={end} />}
    </>
  );
}

function Deceased({
  name,
  set,
  close,
}: {
  name: string;
  set: (body: DeceasedBody) => Promise<void>;
  close: () => void;
}) {
  const [today] = useState(() => dayOf(new Date().toISOString()));
  return (
    <FormDialog
      title={t("deceasedTitle", { name })}
      close={close}
      act={({ died_on = today }) => set({ died_on })}
      button={t("deceasedButton")}
      sentences={{ "REQUEST.INVALID_BODY": t("wrongDay") }}
    >
      <p>{t("deceasedWhy")}</p>
      <Field label={t("diedOn")}>
        <input type="date" name="died_on" required max={today} defaultValue={today} />
      </Field>
    </FormDialog>
  );
}

/** Asks before a removal. The patient is then out of sight, so the list reports it. */
function Remove({ fp, name, close }: { fp: string; name: string; close: () => void }) {
  const { route } = useLocation();
  const remove = async () => {
    const { batch } = await call<Written>("POST", `${clinicPath()}/patients/${fp}/remove`, {});
    notice.value = { at: LIST, text: t("removed", { name }), batch };
    route(LIST);
  };
  return (
    <FormDialog title={t("removeTitle", { name })} close={close} act={remove} button={t("removeButton")} isDangerous>
      <p>{t("removeWhy")}</p>
    </FormDialog>
  );
}

const t = translations({
  edit: ["Change", "Değiştir"],
  deceased: ["Deceased", "Öldü"],
  lives: ["Not deceased after all", "Ölmemiş"],
  deathNoted: ["The death is noted.", "Ölüm kaydedildi."],
  livesNoted: ["The death is taken back.", "Ölüm kaydı kaldırıldı."],
  merge: ["Merge with another animal…", "Başka bir hastayla birleştir…"],
  remove: ["Remove", "Sil"],
  close: ["Close the connection", "Bağlantıyı kapat"],
  deceasedTitle: ["{name} died?", "{name} öldü mü?"],
  deceasedWhy: [
    "Its results and records stay, and new results still find it. You can take this back.",
    "Sonuçları ve kayıtları kalır, yeni sonuçlar onu yine bulur. Geri alabilirsiniz.",
  ],
  diedOn: ["Day of death", "Ölüm günü"],
  deceasedButton: ["Note the death", "Ölümü kaydet"],
  wrongDay: ["A day from the birth to today is expected.", "Doğumdan bugüne kadar bir gün beklenir."],
  removeTitle: ["Remove {name}?", "{name} silinsin mi?"],
  removeWhy: [
    "Use it for an entry by mistake. Results of your devices go back to “To place”. The patient waits under “Removed patients”, and comes back with its results.",
    "Yanlışlıkla girilen kayıtlar içindir. Cihazlarınızın sonuçları “Yerleştirilecek” sayfasına döner. Hasta “Silinen hastalar” altında bekler ve sonuçlarıyla geri gelir.",
  ],
  removeButton: ["Remove the patient", "Hastayı sil"],
  removed: [
    "{name} is removed. It waits under “Removed patients”.",
    "{name} silindi. “Silinen hastalar” altında bekliyor.",
  ],
});
