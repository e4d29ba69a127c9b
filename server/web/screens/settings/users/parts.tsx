import type { GivenPassword, UserOfClinic } from "../../../../../shared/dashboard/users.ts";
import type { RequestError } from "../../../api.ts";
import { Problem } from "../../../resource.tsx";
import { ago } from "../../../text.ts";
import { t } from "./texts.ts";

/** Prints in how many browsers a user is signed in, and the last use. */
export function sessionsOf({ sessions, last_used_at }: UserOfClinic): string {
  return last_used_at === null ? t("noSession") : t("sessionCount", { count: sessions, time: ago(last_used_at) });
}

/** Shows an error by the dialog's own sentence for its code; any other as usual. */
export function Fault({
  error,
  sentences,
}: {
  error: RequestError | undefined;
  sentences: Readonly<Record<string, string>>;
}) {
  if (error === undefined) return null;
  const sentence = sentences[error.code];
  if (sentence === undefined) return <Problem error={error} />;
  return (
    <p class="fault" role="alert">
      {sentence}
    </p>
  );
}

/** Shows a password that the server made, once. */
export function Given({ of: { name, password }, close }: { of: GivenPassword; close: () => void }) {
  return (
    <>
      <p role="status">{t("givenTo", { name })}</p>
      <p class="given-password">
        <code>{password}</code>
      </p>
      <p class="quiet">{t("givenOnce")}</p>
      <p class="actions">
        <button type="button" class="primary" onClick={close}>
          {t("done")}
        </button>
      </p>
    </>
  );
}
