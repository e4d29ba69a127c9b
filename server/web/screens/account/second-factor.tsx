import type {
  AccountState,
  NewSecondFactor,
  ProvenBody,
  RecoveryCodes,
  SecondFactorBody,
} from "../../../dashboard/types/settings/account.ts";
import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { ActionForm } from "../../ui/action-form.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { formValues } from "../../ui/form.ts";
import { useAction } from "../../ui/use-action.ts";
import { QrCode } from "../../ui/qr-code.tsx";
import { RecoveryCodeList } from "./recovery-codes.tsx";
import { t } from "./texts.ts";

type Factor = Pick<AccountState, "has_second_factor" | "recovery_codes_left">;

/** Shows whether the second factor is on, switches it on or off, and makes recovery codes. */
export function SecondFactor({ of: factor, changed }: { of: Factor; changed: () => Promise<void> }) {
  const { run, error } = useAction();
  const [open, setOpen] = useState<NewSecondFactor | "off" | "codes" | null>(null);
  const start = () => void run(async () => setOpen(await call("POST", "/account/second-factor/secret", {})));
  const close = () => {
    setOpen(null);
    void changed();
  };
  const isOn = factor.has_second_factor;
  return (
    <section class="card">
      <h2>{t("secondFactor")}</h2>
      <p>{isOn ? t("factorOn") : t("factorOff")}</p>
      {isOn && <p>{t("codesLeft", { count: factor.recovery_codes_left })}</p>}
      {error !== undefined && <Problem error={error} />}
      <p class="actions">
        {/* One button that stays, also enabled: the focus comes back to it after the dialog. */}
        <button type="button" onClick={isOn ? () => setOpen("off") : start}>
          {isOn ? t("switchOff") : t("switchOn")}
        </button>
        {isOn && (
          <button type="button" onClick={() => setOpen("codes")}>
            {t("newCodes")}
          </button>
        )}
      </p>
      {open === "off" && <OffDialog close={close} />}
      {open === "codes" && <NewCodesDialog close={close} />}
      {open !== null && typeof open === "object" && <OnDialog factor={open} close={close} />}
    </section>
  );
}

function OnDialog({ factor: { secret, uri }, close }: { factor: NewSecondFactor; close: () => void }) {
  const { run, error, isRunning } = useAction();
  const [made, setMade] = useState<RecoveryCodes | null>(null);
  const submit = (event: SubmitEvent) => {
    const { code = "", password = "" } = formValues(event);
    const body = { secret, code, password } satisfies SecondFactorBody;
    void run(async () => setMade(await call("POST", "/account/second-factor/on", body)));
  };
  const isCodeWrong = error?.code === "RECORD.REFUSED";
  if (made !== null) return <MadeDialog of={made} close={close} />;
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
  const switchOff = async ({ password = "", code = "" }: Record<string, string>) => {
    await call("POST", "/account/second-factor/off", { password, code } satisfies ProvenBody);
    close();
  };
  return (
    <Dialog title={t("switchFactorOff")} close={close}>
      <ActionForm act={switchOff} button={t("switchOff")} isDangerous>
        <p>{t("offWhy")}</p>
        <ProofFields />
      </ActionForm>
    </Dialog>
  );
}

function NewCodesDialog({ close }: { close: () => void }) {
  const [made, setMade] = useState<RecoveryCodes | null>(null);
  const make = async ({ password = "", code = "" }: Record<string, string>) =>
    setMade(await call("POST", "/account/second-factor/recovery-codes", { password, code } satisfies ProvenBody));
  if (made !== null) return <MadeDialog of={made} close={close} />;
  return (
    <Dialog title={t("newCodes")} close={close}>
      <ActionForm act={make} button={t("newCodes")}>
        <p>{t("newCodesWhy")}</p>
        <ProofFields />
      </ActionForm>
    </Dialog>
  );
}

/** A dialog of its own, so that a screen reader reads its title. */
function MadeDialog({ of: { recovery_codes }, close }: { of: RecoveryCodes; close: () => void }) {
  return (
    <Dialog key="made" title={t("recoveryCodes")} close={close}>
      <RecoveryCodeList codes={recovery_codes} close={close} />
    </Dialog>
  );
}

function ProofFields() {
  return (
    <>
      <Field label={t("password")}>
        <input name="password" type="password" autocomplete="current-password" required />
      </Field>
      <Field label={t("code")} hint={t("codeOrRecovery")}>
        <input name="code" autocomplete="one-time-code" spellcheck={false} maxLength={20} required />
      </Field>
    </>
  );
}
