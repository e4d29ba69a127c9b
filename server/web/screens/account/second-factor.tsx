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
import { Field } from "../../ui/form/field.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { QrCode } from "../../ui/picture/qr-code.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { RecoveryCodeDialog } from "./recovery-codes.tsx";
import { t } from "./texts.ts";

type Factor = Pick<AccountState, "has_second_factor" | "recovery_codes_left">;

/** Shows whether the second factor is on, switches it on or off, and makes recovery codes. */
export function SecondFactor({ of: factor, changed }: { of: Factor; changed: () => Promise<void> }) {
  const { run, retry, error } = useAction();
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
      {error !== undefined && <Problem error={error} retry={retry} />}
      <p class="actions">
        {/* One button for both states, so that the focus returns to it after the dialog. */}
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
  const [made, setMade] = useState<RecoveryCodes | null>(null);
  const switchOn = async ({ code = "", password = "" }: Record<string, string>) => {
    const body = { secret, code, password } satisfies SecondFactorBody;
    setMade(await call("POST", "/account/second-factor/on", body));
  };
  if (made !== null) return <RecoveryCodeDialog codes={made.recovery_codes} close={close} />;
  return (
    <FormDialog
      title={t("switchFactorOn")}
      close={close}
      act={switchOn}
      button={t("switchOn")}
      staysOpen
      sentences={{ "RECORD.REFUSED": t("wrongCode") }}
    >
      <p>{t("scan")}</p>
      <QrCode of={uri} label={t("qrCode")} />
      <p>
        {t("orType")} <code class="secret">{secret.replaceAll(/(.{4})(?=.)/g, "$1 ")}</code>
      </p>
      <Field label={t("password")} hint={t("onWhy")}>
        <input name="password" type="password" autocomplete="current-password" required />
      </Field>
      <Field label={t("code")} hint={t("codeHint")}>
        <input name="code" inputMode="numeric" autocomplete="one-time-code" maxLength={20} required />
      </Field>
    </FormDialog>
  );
}

async function switchOff({ password = "", code = "" }: Record<string, string>): Promise<void> {
  await call("POST", "/account/second-factor/off", { password, code } satisfies ProvenBody);
}

function OffDialog({ close }: { close: () => void }) {
  return (
    <FormDialog title={t("switchFactorOff")} close={close} act={switchOff} button={t("switchOff")} isDangerous>
      <p>{t("offWhy")}</p>
      <ProofFields />
    </FormDialog>
  );
}

function NewCodesDialog({ close }: { close: () => void }) {
  const [made, setMade] = useState<RecoveryCodes | null>(null);
  const make = async ({ password = "", code = "" }: Record<string, string>) =>
    setMade(await call("POST", "/account/second-factor/recovery-codes", { password, code } satisfies ProvenBody));
  if (made !== null) return <RecoveryCodeDialog codes={made.recovery_codes} close={close} />;
  return (
    <FormDialog title={t("newCodes")} close={close} act={make} button={t("newCodes")} staysOpen>
      <p>{t("newCodesWhy")}</p>
      <ProofFields />
    </FormDialog>
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
