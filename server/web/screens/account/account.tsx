import type { AccountState } from "../../../dashboard/types/settings/account.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { refreshSession } from "../../session.ts";
import { PasswordForm } from "./password-form.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";
import { t } from "./texts.ts";
import "./account.css";

/** The signed-in user's own account: password, second factor, sessions. */
export function Account() {
  const account = useResource<AccountState>("/account", "");
  // The banner about a known password disappears with that password.
  const passwordChanged = async () => void (await Promise.all([account.reload(), refreshSession()]));
  return (
    <div class="account">
      <h1>{t("account")}</h1>
      <Loaded of={account}>
        {({ name, has_password, sessions, ...factor }) => (
          <>
            <p>{t("signedInAs", { name })}</p>
            {has_password ? (
              <>
                <PasswordForm name={name} changed={passwordChanged} />
                <SecondFactor of={factor} changed={account.reload} />
              </>
            ) : (
              <p>{t("ofProvider")}</p>
            )}
            <Sessions sessions={sessions} changed={account.reload} />
          </>
        )}
      </Loaded>
    </div>
  );
}
