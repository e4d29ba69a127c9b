import { type HostedClinic, REASON_CHARS } from "../../dashboard/types/operator.ts";
import { call } from "../api.ts";
import { remember } from "../browser-storage.ts";
import { translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { FormDialog } from "../ui/form-dialog/form-dialog.tsx";

/** Asks for the reason of a look into a clinic, and opens its dashboard. */
export function SupportDialog({ clinic, close }: { clinic: Pick<HostedClinic, "fp" | "name">; close: () => void }) {
  const open = async ({ reason = "" }: Record<string, string>) => {
    await call("POST", `/clinics/${clinic.fp}/support`, { reason });
    remember("clinic", clinic.fp);
    location.assign("/dashboard");
  };
  return (
    <FormDialog title={t("title", { name: clinic.name })} close={close} act={open} button={t("open")} staysOpen>
      <p>{t("what")}</p>
      <ReasonField hint={t("reasonHint")} />
    </FormDialog>
  );
}

/** Asks for the reason of a look or an export, which the clinic's audit has. */
export function ReasonField({ hint }: { hint: string }) {
  return (
    <Field label={t("reason")} hint={hint}>
      <textarea name="reason" minLength={REASON_CHARS.min} maxLength={REASON_CHARS.max} required />
    </Field>
  );
}

const t = translations({
  title: ["Support of {name}", "{name} için destek"],
  what: [
    "You read this clinic for an hour and change nothing. The clinic's audit has your name, the reason and each page that you open. A session at a dashboard in this browser ends.",
    "Bu kliniği bir saat boyunca okur, hiçbir şeyi değiştirmezsiniz. Kliniğin denetim kaydında adınız, gerekçe ve açtığınız her sayfa yer alır. Bu tarayıcıdaki panel oturumu kapanır.",
  ],
  reason: ["Reason", "Gerekçe"],
  reasonHint: [
    "The clinic reads it: name what you were asked for, and no patient.",
    "Klinik bunu okur: sizden ne istendiğini yazın, hasta adı yazmayın.",
  ],
  open: ["Open for an hour", "Bir saatliğine aç"],
});
