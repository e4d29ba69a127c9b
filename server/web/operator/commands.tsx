import { useState } from "preact/hooks";
import type { ErasedBatch, HostedClinicPage } from "../../dashboard/types/operator.ts";
import { call } from "../api.ts";
import { translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { FormDialog } from "../ui/form-dialog/form-dialog.tsx";

// The commands of the operator on a clinic. Each asks first.

export type Command = "suspend" | "resume" | "quota" | "erase";

interface CommandProps {
  readonly of: Command;
  readonly clinic: HostedClinicPage["clinic"];
  readonly close: () => void;
}

export function ClinicCommand({ of: command, clinic, close }: CommandProps) {
  const [left, setLeft] = useState<number | null>(null);
  const path = `/clinics/${clinic.fp}`;
  const act = async ({ name = "", max = "" }: Record<string, string>) => {
    if (command === "quota") return call("PUT", `${path}/quota`, { studies_max: max === "" ? null : Number(max) });
    if (command !== "erase") return call("POST", `${path}/${command}`, {});
    for (let batch: ErasedBatch | undefined; batch === undefined || batch.left > 0; ) {
      batch = await call<ErasedBatch>("POST", `${path}/erase`, { name });
      setLeft(batch.left);
    }
    return undefined;
  };
  return (
    <FormDialog
      title={t(`${command} title`, { name: clinic.name })}
      close={close}
      act={act}
      button={t(command)}
      isDangerous={command === "suspend" || command === "erase"}
    >
      <p>{t(`${command} why`)}</p>
      {command === "quota" && (
        <Field label={t("max")} hint={t("maxHint")}>
          <input type="number" name="max" min={1} max={1_000_000_000} defaultValue={String(clinic.studies_max ?? "")} />
        </Field>
      )}
      {command === "erase" && (
        <Field label={t("name")}>
          <input name="name" autocomplete="off" required />
        </Field>
      )}
      {left !== null && <p role="status">{t("left", { count: left })}</p>}
    </FormDialog>
  );
}

const t = translations({
  suspend: ["Suspend", "Askıya al"],
  resume: ["Serve again", "Yeniden aç"],
  quota: ["Save", "Kaydet"],
  erase: ["Erase", "Sil"],
  "suspend title": ["Suspend {name}", "{name} askıya alınsın mı?"],
  "resume title": ["Serve {name} again", "{name} yeniden açılsın mı?"],
  "quota title": ["Limit of {name}", "{name} için sınır"],
  "erase title": ["Erase the owners of {name}", "{name} sahiplerini sil"],
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
  "erase why": [
    "Names and contacts of the owners whom only this clinic knows are erased, and links to their reports end. This cannot be undone, and backups from before still have them.",
    "Yalnızca bu klinikte kayıtlı sahiplerin adları ve iletişim bilgileri silinir, raporlarının bağlantıları kapanır. Geri alınamaz; önceki yedeklerde yine de bulunurlar.",
  ],
  max: ["Studies that it may store", "Saklayabileceği çalışma sayısı"],
  maxHint: ["Empty: the limit of the server", "Boş: sunucunun sınırı"],
  name: ["Type the name of the clinic", "Kliniğin adını yazın"],
  left: ["{count} left", "{count} kaldı"],
});
