import type {
  OidcStart,
  SessionState,
  SetUpBody,
  SignedInAnswer,
  SignInBody,
} from "../../../dashboard/types/settings/session.ts";
import { PASSWORD_CHARS_MIN } from "../../../dashboard/types/settings/session.ts";
import { useState } from "preact/hooks";
import { call, isSignedOut, RequestError } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { refreshSession } from "../../session.ts";
import { translations } from "../../text.ts";
import { formValues } from "../../ui/form/form.ts";
import { Field } from "../../ui/form/field.tsx";
import { useAction } from "../../ui/form/use-action.ts";

/** Signs a user in, or creates the first admin with the set-up code. */
export function SignIn({ state }: { state: Exclude<SessionState, { state: "signed in" }> }) {
  return (
    <main class="sign-in">
      <h1>Vetwire</h1>
      {state.state === "set-up" ? (
        <SetUpForm hasClinics={state.has_clinics} />
      ) : (
        <SignInForm hasProvider={state.has_provider === true} />
      )}
    </main>
  );
}

function SignInForm({ hasProvider }: { hasProvider: boolean }) {
  const { run, error, isRunning } = useAction();
  const [asked, setAsked] = useState<"app" | "recovery" | null>(null);
  const [left, setLeft] = useState<number | null>(null);
  const submit = (event: SubmitEvent) =>
    void run(async () => {
      const body = formValues(event) as unknown as SignInBody;
      try {
        const { recovery_codes_left } = await call<SignedInAnswer>("POST", "/sign-in", body);
        if (recovery_codes_left !== null) return setLeft(recovery_codes_left);
      } catch (failed) {
        const isAsked = failed instanceof RequestError && failed.code === "SESSION.SECOND_FACTOR";
        if (!isAsked || body.totp !== undefined) throw failed;
        setAsked("app");
        return;
      }
      await refreshSession();
    });
  if (left !== null) return <RecoveryCodeUsed left={left} />;
  return (
    <form onSubmit={submit}>
      <h2>{t("signIn")}</h2>
      {isSignedOut.value && <p role="status">{t("ended")}</p>}
      <Field label={t("name")}>
        <input name="name" autocomplete="username" required />
      </Field>
      <Field label={t("password")}>
        <input name="password" type="password" autocomplete="current-password" required />
      </Field>
      {asked !== null && <CodeField of={asked} choose={setAsked} />}
      {error !== undefined && <Problem error={error} />}
      <button type="submit" class="primary" disabled={isRunning}>
        {t("signIn")}
      </button>
      {hasProvider && <ProviderButton />}
    </form>
  );
}

/** Goes to the provider, which sends the browser back to `oidc-return.tsx`. */
function ProviderButton() {
  const { run, error, isRunning } = useAction();
  const go = () =>
    void run(async () => {
      const { url } = await call<OidcStart>("POST", "/oidc/start", {});
      location.assign(url);
    });
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      <button type="button" disabled={isRunning} onClick={go}>
        {t("provider")}
      </button>
    </>
  );
}

type CodeKind = "app" | "recovery";

function CodeField({ of: kind, choose }: { of: CodeKind; choose: (kind: CodeKind) => void }) {
  return (
    <div key={kind}>
      {kind === "app" ? (
        <Field label={t("totp")} hint={t("totpHint")}>
          <input name="totp" inputMode="numeric" autocomplete="one-time-code" maxLength={20} autofocus required />
        </Field>
      ) : (
        <Field label={t("recovery")} hint={t("recoveryHint")}>
          <input name="totp" autocomplete="off" autocapitalize="characters" maxLength={20} autofocus required />
        </Field>
      )}
      <button type="button" onClick={() => choose(kind === "app" ? "recovery" : "app")}>
        {kind === "app" ? t("useRecovery") : t("useApp")}
      </button>
    </div>
  );
}

/** Shows the number of remaining recovery codes before the first screen. */
function RecoveryCodeUsed({ left }: { left: number }) {
  const { run, error, isRunning } = useAction();
  return (
    <div role="status">
      <h2>{t("recoveryUsed")}</h2>
      <p>{t("recoveryLeft", { count: left })}</p>
      {error !== undefined && <Problem error={error} />}
      <button type="button" class="primary" disabled={isRunning} onClick={() => void run(refreshSession)} autofocus>
        {t("goOn")}
      </button>
    </div>
  );
}

function SetUpForm({ hasClinics }: { hasClinics: boolean }) {
  const { run, error, isRunning } = useAction();
  const submit = (event: SubmitEvent) =>
    void run(async () => {
      await call("POST", "/set-up", formValues(event) as unknown as SetUpBody);
      await refreshSession();
    });
  return (
    <form onSubmit={submit}>
      <h2>{t("setUp")}</h2>
      <p>{t("setUpWhy")}</p>
      <Field label={t("code")} hint={t("codeHint")}>
        <input name="code" autocomplete="off" autocapitalize="characters" required />
      </Field>
      {!hasClinics && (
        <Field label={t("clinicName")}>
          <input name="clinic_name" maxLength={100} required />
        </Field>
      )}
      <Field label={t("name")}>
        <input name="name" autocomplete="username" maxLength={100} required />
      </Field>
      <Field label={t("password")} hint={t("passwordHint", { count: PASSWORD_CHARS_MIN })}>
        <input name="password" type="password" autocomplete="new-password" minLength={PASSWORD_CHARS_MIN} required />
      </Field>
      {error !== undefined && <Problem error={error} />}
      <button type="submit" class="primary" disabled={isRunning}>
        {t("setUpButton")}
      </button>
    </form>
  );
}

const t = translations({
  ended: ["Your session ended. Sign in again to go on.", "Oturumunuz sona erdi. Devam etmek için yeniden oturum açın."],
  signIn: ["Sign in", "Oturum aç"],
  provider: ["Sign in with your organisation's account", "Kurum hesabınızla oturum açın"],
  name: ["Name", "Ad"],
  password: ["Password", "Parola"],
  totp: ["Code of your second factor", "İkinci adım kodunuz"],
  totpHint: [
    "The six digits that your authenticator app shows now",
    "Doğrulama uygulamanızın şu anda gösterdiği altı rakam",
  ],
  recovery: ["Recovery code", "Kurtarma kodu"],
  recoveryHint: [
    "One of the ten codes that you printed or kept. Each works once.",
    "Yazdırdığınız ya da sakladığınız on koddan biri. Her biri bir kez geçerlidir.",
  ],
  useRecovery: ["Use a recovery code", "Kurtarma kodu kullan"],
  useApp: ["Use the app", "Uygulamayı kullan"],
  recoveryUsed: ["You used a recovery code", "Bir kurtarma kodu kullandınız"],
  recoveryLeft: [
    "Codes left: {count}. You make new ones under “Your account”.",
    "Kalan kod: {count}. Yenilerini “Hesabınız” altında oluşturursunuz.",
  ],
  goOn: ["Go on", "Devam et"],
  setUp: ["Set up the dashboard", "Paneli kurun"],
  setUpWhy: [
    "The first user becomes the admin. The set-up code proves that you have access to the server's machine.",
    "İlk kullanıcı yönetici olur. Kurulum kodu, sunucunun makinesine erişiminiz olduğunu gösterir.",
  ],
  code: ["Set-up code", "Kurulum kodu"],
  codeHint: [
    "The server printed it when it started, and wrote it to the file setup-code in its data folder.",
    "Sunucu başlarken yazdırdı ve veri klasöründeki setup-code dosyasına yazdı.",
  ],
  clinicName: ["Name of the clinic", "Kliniğin adı"],
  passwordHint: ["At least {count} characters", "En az {count} karakter"],
  setUpButton: ["Set up", "Kur"],
});
