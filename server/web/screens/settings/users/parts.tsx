import type { GivenPassword, UserOfClinic } from "../../../../dashboard/types/settings/users.ts";
import { ago } from "../../../text.ts";
import { Dialog } from "../../../ui/form-dialog/dialog.tsx";
import { t } from "./texts.ts";

/** Prints the number of browsers in which a user is signed in, and the last use. */
export function sessionsOf({ sessions, last_used_at }: UserOfClinic): string {
  return last_used_at === null ? t("noSession") : t("sessionCount", { count: sessions, time: ago(last_used_at) });
}

/** Shows a password that the server made, once. */
export function Given({ of: { name, password }, ...dialog }: { of: GivenPassword; title: string; close: () => void }) {
  const done = (
    <button type="button" class="primary" onClick={dialog.close}>
      {t("done")}
    </button>
  );
  return (
    <Dialog {...dialog} foot={done}>
      <p role="status">{t("givenTo", { name })}</p>
      <p class="given-password">
        <code>{password}</code>
      </p>
      <p class="quiet">{t("givenOnce")}</p>
    </Dialog>
  );
}
