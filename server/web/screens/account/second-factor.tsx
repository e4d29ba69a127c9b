import type { NewSecondFactor, SecondFactorBody } from "../../../../shared/dashboard/account.ts";
import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { ActionForm } from "../../ui/action-form.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { formValues } from "../../ui/form.ts";
import { useAction } from "../../ui/use-action.ts";
import { QrCode } from "./qr-code.tsx";
import { t } from "./texts.ts";

/** Shows whether the second factor is on, and switches it on or off. */
export function SecondFactor({ isOn, changed }: { isOn: boolean; changed: () => Promise<void> }) {
  const { run, error } = useAction();
  const [open, setOpen] = useState<NewSecondFactor | "off" | null>(null);
  const start = () => void run(async () => setOpen(await call("POST", "/account/second-factor/secret", {})));
  const close = () => {
    setOpen(null);
    void changed();
  };
  return (
    <section class="card">
      <h2>{t("secondFactor")}</h2>
      <p>{isOn ? t("factorOn") : t("factorOff")}</p>
      {error !== undefined && <Problem error={error} />}
      {isOn ? (
        <button type="button" onClick={() => setOpen("off")}>
          {t("switchOff")}
        </button>
      ) : (
        // It stays enabled while it runs: a disabled button loses the focus, which comes back here after the dialog.
        <button type="button" onClick={start}>
          {t("switchOn")}
        </button>
      )}
      {open === "off" && <OffDialog close={close} />}
      {open !== null && open !== "off" && <OnDialog factor={open} close={close} />}
    </section>
  );
}

function OnDialog({ factor: { secret, uri }, close }: { factor: NewSecondFactor; close: () => void }) {
  const { run, error, isRunning } = useAction();
  const submit = (event: SubmitEvent) => {
    const { code = "", password = "" } = formValues(event);
    void run(async () => {
      await call("POST", "/account/second-factor/on", { secret, code, password } satisfies SecondFactorBody);
      close();
    });
  };
  const isCodeWrong = error?.code === "RECORD.REFUSED";
  return (
    <Dialog title={t("switchFactorOn")} close={close}>
      <form onSubmit={submit}>
        <p>{t("scan")}</p>
        <QrCode of={uri} label={t("qrCode")} />
        <p>
          {t("orType")} <code class="secret">{secret.replaceAll(/(.{4})(?=.)/g, "$1 ")}</code>
        </p>
        <Field label={t("password")} hint={t("onWhy")}>
          <input name="password" type="password" autocomplete="current-password" required />
        </Field>
        <Field label={t("code")} hint={t("codeHint")} fault={isCodeWrong ? t("wrongCode") : null}>
          <input name="code" inputMode="numeric" autocomplete="one-time-code" maxLength={20} required />
        </Field>
        {error !== undefined && !isCodeWrong && <Problem error={error} />}
        <p class="actions">
          <button type="submit" class="primary" disabled={isRunning}>
            {t("switchOn")}
          </button>
          <button type="button" onClick={close}>
            {t("cancel")}
          </button>
        </p>
      </form>
    </Dialog>
  );
}

function OffDialog({ close }: { close: () => void }) {
  const switchOff = async ({ password = "" }: Record<string, string>) => {
    await call("POST", "/account/second-factor/off", { password });
    close();
  };
  return (
    <Dialog title={t("switchFactorOff")} close={close}>
      <ActionForm act={switchOff} button={t("switchOff")} isDangerous>
        <p>{t("offWhy")}</p>
        <Field label={t("password")}>
          <input name="password" type="password" autocomplete="current-password" required />
        </Field>
      </ActionForm>
    </Dialog>
  );
}
