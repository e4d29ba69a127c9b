import type { AccountState } from "../../../../shared/dashboard/account.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { PasswordForm } from "./password-form.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";
import { t } from "./texts.ts";
import "./account.css";

/** The signed-in user's own account: password, second factor, sessions. */
export function Account() {
  const account = useResource<AccountState>("/account", "");
  return (
    <div class="account">
      <h1>{t("account")}</h1>
      <Loaded of={account}>
        {({ name, has_second_factor, sessions }) => (
          <>
            <p>{t("signedInAs", { name })}</p>
            <PasswordForm name={name} changed={account.reload} />
            <SecondFactor isOn={has_second_factor} changed={account.reload} />
            <Sessions sessions={sessions} changed={account.reload} />
          </>
        )}
      </Loaded>
    </div>
  );
}
