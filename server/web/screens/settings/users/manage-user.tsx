import type { Role } from "../../../../dashboard/types/settings/session.ts";
import { roles } from "../../../../dashboard/types/settings/session.ts";
import type { GivenPassword, RoleBody, UserOfClinic } from "../../../../dashboard/types/settings/users.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { Problem } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { formValues } from "../../../ui/form.ts";
import { useAction } from "../../../ui/use-action.ts";
import { Given, sessionsOf } from "./parts.tsx";
import { t } from "./texts.ts";

/** A change that the admin confirms before it happens. */
type Change = "reset" | "end-sessions" | "disable" | "enable" | "remove";

/** Changes one user of the clinic. */
export function ManageDialog({ user, close }: { user: UserOfClinic; close: () => void }) {
  const { run, error, isRunning } = useAction();
  const [wanted, setWanted] = useState<Change | null>(null);
  const [given, setGiven] = useState<GivenPassword | null>(null);
  const path = `${clinicPath()}/users/${user.id}`;
  const confirm = (change: Change) =>
    void run(async () => {
      if (change === "remove") await call("DELETE", path);
      else if (change === "reset") return setGiven(await call<GivenPassword>("POST", `${path}/reset`, {}));
      else await call("POST", `${path}/${change}`, {});
      close();
    });
  const setRole = (role: Role) =>
    void run(async () => {
      await call("PATCH", path, { role } satisfies RoleBody);
      close();
    });
  return (
    <Dialog title={user.name} close={close}>
      {error !== undefined && <Problem error={error} />}
      {given !== null ? (
        <Given of={given} close={close} />
      ) : wanted !== null ? (
        <Confirmation
          change={wanted}
          user={user}
          isRunning={isRunning}
          confirm={() => confirm(wanted)}
          back={() => setWanted(null)}
        />
      ) : (
        <>
          <p class="quiet">
            {t("secondFactor")}: {user.has_second_factor ? t("on") : t("off")} · {t("sessions")}: {sessionsOf(user)}
          </p>
          {user.is_last_admin ? <p>{t("lastAdmin")}</p> : <RoleForm user={user} save={setRole} />}
          <Changes user={user} choose={setWanted} />
          <p class="actions">
            <button type="button" onClick={close}>
              {t("close")}
            </button>
          </p>
        </>
      )}
    </Dialog>
  );
}

function RoleForm({ user, save }: { user: UserOfClinic; save: (role: Role) => void }) {
  return (
    <form onSubmit={(event) => save(formValues(event)["role"] as Role)}>
      <Field label={t("role")} hint={t("roleHint")}>
        <select name="role">
          {roles.map((role) => (
            <option key={role} value={role} selected={role === user.role}>
              {t(role)}
            </option>
          ))}
        </select>
      </Field>
      <button type="submit">{t("saveRole")}</button>
    </form>
  );
}

/** Offers the changes that the server would not refuse, and says why others are missing. */
function Changes({ user, choose }: { user: UserOfClinic; choose: (change: Change) => void }) {
  const changes: Change[] = [
    ...(user.is_manageable
      ? (["reset", "end-sessions", user.is_disabled ? "enable" : "disable"] satisfies Change[])
      : []),
    ...(user.is_last_admin ? [] : (["remove"] satisfies Change[])),
  ];
  return (
    <>
      <h3>{t("account")}</h3>
      {user.is_you && (
        <p>
          {t("ownAccount")} <a href="/dashboard/account">{t("toAccount")}</a>
        </p>
      )}
      {!user.is_you && !user.is_manageable && <p>{t("foreignAccount")}</p>}
      <ul class="user-changes">
        {changes.map((change) => (
          <li key={change}>
            <button
              type="button"
              class={change === "remove" || change === "disable" ? "danger" : undefined}
              onClick={() => choose(change)}
            >
              {t(change)}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function Confirmation(of: {
  change: Change;
  user: UserOfClinic;
  isRunning: boolean;
  confirm: () => void;
  back: () => void;
}) {
  const { change, user, isRunning, confirm, back } = of;
  return (
    <>
      <p>{t(`${change} why`, { name: user.name })}</p>
      <p class="actions">
        <button type="button" class="primary" disabled={isRunning} onClick={confirm}>
          {t(change)}
        </button>
        <button type="button" onClick={back}>
          {t("back")}
        </button>
      </p>
    </>
  );
}
