import type { SessionState, SetUpBody, SignInBody } from "../../../../shared/dashboard/session.ts";
import { PASSWORD_CHARS_MIN } from "../../../../shared/dashboard/session.ts";
import { useState } from "preact/hooks";
import { call, isSignedOut, RequestError } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { refreshSession } from "../../session.ts";
import { texts } from "../../text.ts";
import { formValues } from "../../ui/form.ts";
import { Field } from "../../ui/field.tsx";
import { useAction } from "../../ui/use-action.ts";

/** Signs a user in, or makes the first admin with the set-up code. */
export function SignIn({ state }: { state: Exclude<SessionState, { state: "signed in" }> }) {
  return (
    <main class="sign-in">
      <h1>Vetwire</h1>
      {state.state === "set-up" ? <SetUpForm hasClinics={state.has_clinics} /> : <SignInForm />}
    </main>
  );
}

function SignInForm() {
  const { run, error, isRunning } = useAction();
  const [needsCode, setNeedsCode] = useState(false);
  const submit = (event: SubmitEvent) =>
    void run(async () => {
      const body = formValues(event) as unknown as SignInBody;
      try {
        await call("POST", "/sign-in", body);
      } catch (failed) {
        const isAsked = failed instanceof RequestError && failed.code === "SESSION.SECOND_FACTOR";
        if (!isAsked || body.totp !== undefined) throw failed;
        setNeedsCode(true);
        return;
      }
      await refreshSession();
    });
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
      {needsCode && (
        <Field label={t("totp")} hint={t("totpHint")}>
          <input name="totp" inputMode="numeric" autocomplete="one-time-code" maxLength={20} autofocus required />
        </Field>
      )}
      {error !== undefined && <Problem error={error} />}
      <button type="submit" class="primary" disabled={isRunning}>
        {t("signIn")}
      </button>
    </form>
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

const t = texts(
  {
    ended: "Your session ended. Sign in again to go on.",
    signIn: "Sign in",
    name: "Name",
    password: "Password",
    totp: "Code of your second factor",
    totpHint: "The six digits that your authenticator app shows now",
    setUp: "Set up the dashboard",
    setUpWhy: "The first user becomes the admin. The set-up code proves that you have access to the server's machine.",
    code: "Set-up code",
    codeHint: "The server printed it when it started, and wrote it to the file setup-code in its data folder.",
    clinicName: "Name of the clinic",
    passwordHint: "At least {count} characters",
    setUpButton: "Set up",
  },
  {
    ended: "Oturumunuz sona erdi. Devam etmek için yeniden oturum açın.",
    signIn: "Oturum aç",
    name: "Ad",
    password: "Parola",
    totp: "İkinci adım kodunuz",
    totpHint: "Doğrulama uygulamanızın şu anda gösterdiği altı rakam",
    setUp: "Paneli kurun",
    setUpWhy: "İlk kullanıcı yönetici olur. Kurulum kodu, sunucunun makinesine erişiminiz olduğunu gösterir.",
    code: "Kurulum kodu",
    codeHint: "Sunucu başlarken yazdırdı ve veri klasöründeki setup-code dosyasına yazdı.",
    clinicName: "Kliniğin adı",
    passwordHint: "En az {count} karakter",
    setUpButton: "Kur",
  },
);
