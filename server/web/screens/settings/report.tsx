import { useState } from "preact/hooks";
import {
  ADDRESS_CHARS_MAX,
  PHONE_CHARS_MAX,
  type ReportHeadBody,
  type ReportHeadState,
} from "../../../dashboard/types/settings/report.ts";
import { call } from "../../api.ts";
import { Loaded, Problem, useResource } from "../../resource.tsx";
import { clinic, clinicPath } from "../../session.ts";
import { translations } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { changesOf, formValues } from "../../ui/form/form.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { SettingsFrame } from "./frame.tsx";

/** Settings, Report: the head of the reports for owners. */
export function ReportSettings() {
  return (
    <SettingsFrame part="report">
      <Head />
    </SettingsFrame>
  );
}

function Head() {
  const head = useResource<ReportHeadState>("/settings/report");
  return <Loaded of={head}>{(data) => <HeadForm of={data} reload={head.reload} />}</Loaded>;
}

function HeadForm({ of, reload }: { of: ReportHeadState; reload: () => Promise<void> }) {
  // The texts as the form shows them: a save sends those that its user changed.
  const [opened, setOpened] = useState({ address: of.address, phone: of.phone });
  const { run, error, isRunning } = useAction();
  // Each save shows the logo under another address, which the browser has not kept.
  const [saves, setSaves] = useState(0);
  const submit = (event: SubmitEvent) => {
    const { address = "", phone = "", remove } = formValues(event);
    const file = new FormData(event.currentTarget as HTMLFormElement).get("logo");
    void run(async () => {
      const logo = remove !== undefined ? null : file instanceof File && file.size > 0 ? await base64(file) : undefined;
      const chosen = { address, phone };
      const body: ReportHeadBody = { ...changesOf(chosen, opened), ...(logo === undefined ? {} : { logo }) };
      await call("PUT", `${clinicPath()}/settings/report`, body);
      setOpened(chosen);
      await reload();
      setSaves(saves + 1);
    });
  };
  const address = [of.address, of.phone].filter((text) => text !== "").join(" · ");
  return (
    <>
      <form class="clinic-form" onSubmit={submit}>
        <Field label={t("address")}>
          <input name="address" maxLength={ADDRESS_CHARS_MAX} defaultValue={opened.address} autocomplete="off" />
        </Field>
        <Field label={t("phone")}>
          <input name="phone" type="tel" maxLength={PHONE_CHARS_MAX} defaultValue={opened.phone} autocomplete="off" />
        </Field>
        <Field key={`logo-${saves}`} label={t("logo")} hint={t("logoHint")}>
          <input name="logo" type="file" accept="image/png,image/jpeg" />
        </Field>
        {of.has_logo && (
          <label class="check" key={`remove-${saves}`}>
            <input type="checkbox" name="remove" /> <span>{t("removeLogo")}</span>
          </label>
        )}
        {error !== undefined && <Problem error={error} />}
        <p class="actions">
          <button type="submit" class="primary" disabled={isRunning}>
            {t("save")}
          </button>
          <span role="status">{saves > 0 && !isRunning && error === undefined && t("saved")}</span>
        </p>
      </form>
      <section class="card" aria-labelledby="preview">
        <h2 id="preview">{t("preview")}</h2>
        {of.has_logo && (
          <img src={`/clinic/v1${clinicPath()}/settings/report/logo?${saves}`} alt={t("logo")} height={40} />
        )}
        <p>
          <strong>{clinic.value?.name}</strong>
          <br />
          <span class="quiet">{address}</span>
        </p>
      </section>
    </>
  );
}

async function base64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

const t = translations({
  address: ["Address", "Adres"],
  phone: ["Phone", "Telefon"],
  logo: ["Logo", "Logo"],
  logoHint: ["PNG or JPEG, at most 300 kB", "PNG veya JPEG, en çok 300 kB"],
  removeLogo: ["Remove the logo", "Logoyu kaldır"],
  preview: ["At the top of each report", "Her raporun başında"],
  save: ["Save", "Kaydet"],
  saved: ["Saved.", "Kaydedildi."],
});
