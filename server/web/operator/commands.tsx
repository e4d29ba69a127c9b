import { type HostedClinicPage, QUOTA_METERS, type QuotaMeter } from "../../dashboard/types/operator.ts";
import { call } from "../api.ts";
import { translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { changesOf } from "../ui/form/form.ts";
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
  const shown = textsOf(clinic);
  const act = async (fields: Record<string, string>) =>
    command === "quota"
      ? call("PUT", `${path}/quota`, limitsIn(fields, shown))
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
        <>
          <Field label={t("max")} hint={t("maxHint")}>
            <input type="number" name="max" min={1} max={1_000_000_000} defaultValue={shown["max"]} />
          </Field>
          <p>{t("quotas why")}</p>
          {QUOTA_METERS.map((meter) => (
            <Field key={meter} label={t(meter)} hint={t("quotaHint")}>
              <input
                type="number"
                name={meter}
                min={1}
                max={meter === "devices" ? 1e6 : 1e9}
                defaultValue={shown[meter]}
              />
            </Field>
          ))}
        </>
      )}
    </FormDialog>
  );
}

/** Storage is typed in megabytes. */
const UNITS: Readonly<Record<QuotaMeter, number>> = { devices: 1, api_calls_this_month: 1, storage_bytes: 1e6 };

function perUnit(limit: number | null, meter: QuotaMeter): number | null {
  return limit === null ? null : Math.round(limit / UNITS[meter]);
}

/** The limits by the names of their fields. */
function textsOf({ studies_max, quotas }: CommandProps["clinic"]): Record<string, string> {
  const meters = QUOTA_METERS.map((meter) => [meter, text(perUnit(quotas[meter], meter))] as const);
  return { max: text(studies_max), ...Object.fromEntries(meters) };
}

/** @returns the limit of studies, which keeps results at the PCs, and the quotas: each only if it was changed */
function limitsIn(fields: Record<string, string>, shown: Record<string, string>) {
  const limit = (field: string, unit = 1) => ((fields[field] ?? "") === "" ? null : Number(fields[field]) * unit);
  const quotas = Object.fromEntries(QUOTA_METERS.map((meter) => [meter, limit(meter, UNITS[meter])]));
  const { max, ...meters } = changesOf(fields, shown);
  return { ...(max !== undefined && { studies_max: limit("max") }), ...(Object.keys(meters).length > 0 && { quotas }) };
}

function text(limit: number | null): string {
  return limit === null ? "" : String(limit);
}

const t = translations({
  suspend: ["Suspend", "Askıya al"],
  resume: ["Serve again", "Yeniden aç"],
  quota: ["Save", "Kaydet"],
  "suspend title": ["Suspend {name}", "{name} askıya alınsın mı?"],
  "resume title": ["Serve {name} again", "{name} yeniden açılsın mı?"],
  "quota title": ["Limits of {name}", "{name} için sınırlar"],
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
  "quotas why": [
    "Beyond these the clinic needs you in the list, and nothing is refused.",
    "Bunların ötesinde klinik listede sizi bekler; hiçbir şey reddedilmez.",
  ],
  devices: ["Devices", "Cihazlar"],
  api_calls_this_month: ["API calls a month", "Aylık API çağrısı"],
  storage_bytes: ["Megabytes of results and pictures", "Sonuçlar ve görüntüler (megabayt)"],
  quotaHint: ["Empty: no limit", "Boş: sınır yok"],
});
