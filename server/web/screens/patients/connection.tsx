import { useLocation } from "preact-iso";
import type { AskedConnection, OpenConnectionBody } from "../../../dashboard/types/connections.ts";
import { call } from "../../api.ts";
import { clinicPath } from "../../session.ts";
import { translations } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { LIST, notice } from "./animal/undo.tsx";

/**
 * Asks for the fp of a patient of another clinic, and for the connection to it. There is no search: the owner or that clinic gives the
 * fp. While it waits the response does not show whether a patient has the fp.
 */
export function OpenConnection({ close }: { close: () => void }) {
  const { route } = useLocation();
  const open = async ({ fp: typed = "" }: Record<string, string>) => {
    const fp = typed.trim();
    const body: OpenConnectionBody = { consent: true };
    const { name } = await call<AskedConnection>("PUT", connectionPath(fp), body);
    if (name !== null) return route(`/dashboard/patients/${fp}`);
    notice.value = { at: LIST, text: t("asked") };
  };
  return (
    <FormDialog title={t("open")} close={close} act={open} button={t("openButton")}>
      <p>{t("openWhy")}</p>
      <Field label={t("fp")} hint={t("fpHint")}>
        <input name="fp" autocomplete="off" autocapitalize="off" spellcheck={false} maxLength={40} required />
      </Field>
      <p>
        <label class="check">
          <input type="checkbox" required /> <span>{t("consent")}</span>
        </label>
      </p>
    </FormDialog>
  );
}

/** Closes the clinic's connection. The patient is then out of sight, so the list says what happened. */
export function CloseConnection({ fp, name, close }: { fp: string; name: string; close: () => void }) {
  const { route } = useLocation();
  const end = async () => {
    await call("DELETE", connectionPath(fp));
    notice.value = { at: LIST, text: t("closed", { name }) };
    route(LIST);
  };
  return (
    <FormDialog title={t("close", { name })} close={close} act={end} button={t("closeButton")} isDangerous>
      <p>{t("closeWhy")}</p>
      <p>
        {t("fp")}: <code>{fp}</code>
      </p>
    </FormDialog>
  );
}

export function connectionPath(fp: string): string {
  return `${clinicPath()}/patients/${encodeURIComponent(fp)}/connection`;
}

const t = translations({
  open: ["Connect a patient of another clinic", "Başka kliniğin hastasını bağla"],
  openWhy: [
    "This clinic then sees the patient with all its studies and records. The clinic that has the patient is told, and may have to confirm first.",
    "Bu klinik bundan sonra hastayı tüm tetkik ve kayıtlarıyla görür. Hastanın kliniğine bildirilir; önce onaylaması gerekebilir.",
  ],
  asked: [
    "The connection is asked for. It waits for the clinic that has the patient.",
    "Bağlantı istendi. Hastanın kliniği bekleniyor.",
  ],
  fp: ["Fingerprint (fp)", "Parmak izi (fp)"],
  fpHint: [
    "As the other clinic gives it: patient_ and 26 characters",
    "Diğer kliniğin verdiği biçimde: patient_ ve 26 karakter",
  ],
  consent: [
    "The patient's owner agreed that this clinic sees these records.",
    "Hasta sahibi, bu kliniğin bu kayıtları görmesini kabul etti.",
  ],
  openButton: ["Connect", "Bağla"],
  close: ["Close the connection to {name}?", "{name} bağlantısı kapatılsın mı?"],
  closeWhy: [
    "This clinic then no longer sees the patient, its studies and records. Nothing is deleted. To connect it again you need its fp.",
    "Bu klinik artık hastayı, tetkiklerini ve kayıtlarını görmez. Hiçbir şey silinmez. Yeniden bağlamak için fp'si gerekir.",
  ],
  closeButton: ["Close the connection", "Bağlantıyı kapat"],
  closed: ["The connection to {name} is closed.", "{name} bağlantısı kapatıldı."],
});
