import type { Role } from "../../../../dashboard/types/settings/session.ts";
import { roles } from "../../../../dashboard/types/settings/session.ts";
import type { GivenPassword, RoleBody, UserOfClinic } from "../../../../dashboard/types/settings/users.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { Problem } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { formValues } from "../../../ui/form/form.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { CloseButton, Dialog } from "../../../ui/form-dialog/dialog.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { Given, sessionsOf } from "./parts.tsx";
import { t } from "./texts.ts";

/** A change that the admin confirms before it happens. */
type Change = "reset" | "end-sessions" | "disable" | "enable" | "remove";

export function ManageDialog({ user, close }: { user: UserOfClinic; close: () => void }) {
  const { run, error } = useAction();
  const [wanted, setWanted] = useState<Change | null>(null);
  const [given, setGiven] = useState<GivenPassword | null>(null);
  const path = `${clinicPath()}/users/${user.id}`;
  const change = async (to: Change) => {
    if (to === "remove") await call("DELETE", path);
    else if (to === "reset") return setGiven(await call<GivenPassword>("POST", `${path}/reset`, {}));
    else await call("POST", `${path}/${to}`, {});
    close();
  };
  const setRole = (role: Role) =>
    void run(async () => {
      await call("PATCH", path, { role } satisfies RoleBody);
      close();
    });
  if (given !== null) return <Given title={user.name} of={given} close={close} />;
  if (wanted !== null) {
    return (
      <FormDialog
        key={wanted}
        title={user.name}
        close={() => setWanted(null)}
        act={() => change(wanted)}
        button={t(wanted)}
        isDangerous={isDanger(wanted)}
        staysOpen
        leave={t("back")}
      >
        <p>{t(`${wanted} why`, { name: user.name })}</p>
      </FormDialog>
    );
  }
  return (
    <Dialog title={user.name} close={close} foot={<CloseButton />}>
      {error !== undefined && <Problem error={error} />}
      <p class="quiet">
        {t("secondFactor")}: {user.has_second_factor ? t("on") : t("off")} · {t("sessions")}: {sessionsOf(user)}
      </p>
      {user.is_last_admin ? <p>{t("lastAdmin")}</p> : <RoleForm user={user} save={setRole} />}
      <Changes user={user} choose={setWanted} />
    </Dialog>
  );
}

function isDanger(change: Change): boolean {
  return change === "remove" || change === "disable";
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

/** Offers the changes that the server accepts, and shows why others are missing. */
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
            <button type="button" class={isDanger(change) ? "danger" : undefined} onClick={() => choose(change)}>
              {t(change)}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
