import type { HostedClinicPage } from "../../dashboard/types/operator.ts";
import { call } from "../api.ts";
import { translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { FormDialog } from "../ui/form-dialog/form-dialog.tsx";

// The commands of the operator on a clinic. Each asks first.

export type Command = "suspend" | "resume" | "quota";

interface CommandProps {
  readonly of: Command;
  readonly clinic: HostedClinicPage["clinic"];
  readonly close: () => void;
}

export function ClinicCommand({ of: command, clinic, close }: CommandProps) {
  const path = `/clinics/${clinic.fp}`;
  const act = async ({ max = "" }: Record<string, string>) =>
    command === "quota"
      ? call("PUT", `${path}/quota`, { studies_max: max === "" ? null : Number(max) })
      : call("POST", `${path}/${command}`, {});
  return (
    <FormDialog
      title={t(`${command} title`, { name: clinic.name })}
      close={close}
      act={act}
      button={t(command)}
      isDangerous={command === "suspend"}
    >
      <p>{t(`${command} why`)}</p>
      {command === "quota" && (
        <Field label={t("max")} hint={t("maxHint")}>
          <input type="number" name="max" min={1} max={1_000_000_000} defaultValue={String(clinic.studies_max ?? "")} />
        </Field>
      )}
    </FormDialog>
  );
}

const t = translations({
  suspend: ["Suspend", "Askıya al"],
  resume: ["Serve again", "Yeniden aç"],
  quota: ["Save", "Kaydet"],
  "suspend title": ["Suspend {name}", "{name} askıya alınsın mı?"],
  "resume title": ["Serve {name} again", "{name} yeniden açılsın mı?"],
  "quota title": ["Limit of {name}", "{name} için sınır"],
  "suspend why": [
    "Its users and integrations are refused. Its data stays, and its PCs keep new results until you serve it again.",
    "Kullanıcıları ve entegrasyonları reddedilir. Verileri kalır; bilgisayarları yeni sonuçları siz yeniden açana kadar saklar.",
  ],
  "resume why": [
    "Its users come in again, and its PCs send what waits.",
    "Kullanıcıları yeniden girebilir ve bilgisayarları bekleyenleri gönderir.",
  ],
  "quota why": [
    "Beyond the limit the clinic's PCs keep new studies, and nothing is lost.",
    "Sınırın ötesinde kliniğin bilgisayarları yeni çalışmaları saklar; hiçbir şey kaybolmaz.",
  ],
  max: ["Studies that it may store", "Saklayabileceği çalışma sayısı"],
  maxHint: ["Empty: the limit of the server", "Boş: sunucunun sınırı"],
});
