import type { Role } from "../../../../dashboard/types/settings/session.ts";
import { PASSWORD_CHARS_MIN, roles } from "../../../../dashboard/types/settings/session.ts";
import type { AddUserBody, GivenPassword, NewUserBody } from "../../../../dashboard/types/settings/users.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { Given } from "./parts.tsx";
import { t } from "./texts.ts";

// Dialogs that add a user to the clinic.

/** Creates a user, and shows the first password once. */
export function NewUserDialog({ close }: { close: () => void }) {
  const [given, setGiven] = useState<GivenPassword | null>(null);
  const create = async ({ name = "", role, password = "" }: Record<string, string>) => {
    const body: NewUserBody = { name, role: role as Role, ...(password !== "" && { password }) };
    const answer = await call<GivenPassword>("POST", `${clinicPath()}/users`, body);
    if (answer.password === null) close();
    else setGiven(answer);
  };
  if (given !== null) return <Given title={t("newUser")} of={given} close={close} />;
  return (
    <FormDialog
      title={t("newUser")}
      close={close}
      act={create}
      button={t("create")}
      staysOpen
      sentences={{ "RECORD.REFUSED": t("taken") }}
    >
      <Field label={t("name")} hint={t("nameHint")}>
        <input name="name" maxLength={100} autocomplete="off" required />
      </Field>
      <RoleField />
      <Field label={t("firstPassword")} hint={t("firstPasswordHint", { count: PASSWORD_CHARS_MIN })}>
        <input name="password" minLength={PASSWORD_CHARS_MIN} autocomplete="off" />
      </Field>
    </FormDialog>
  );
}

async function add({ name = "", role }: Record<string, string>): Promise<void> {
  await call("POST", `${clinicPath()}/users/add`, { name, role: role as Role } satisfies AddUserBody);
}

/** Gives a user of another clinic a role in this clinic. */
export function AddUserDialog({ close }: { close: () => void }) {
  const sentences = { "RECORD.NOT_FOUND": t("nobody"), "RECORD.REFUSED": t("already") };
  return (
    <FormDialog title={t("addUser")} close={close} act={add} button={t("add")} sentences={sentences}>
      <p>{t("addWhy")}</p>
      <Field label={t("name")}>
        <input name="name" maxLength={100} autocomplete="off" required />
      </Field>
      <RoleField />
    </FormDialog>
  );
}

function RoleField() {
  return (
    <Field label={t("role")} hint={t("roleHint")}>
      <select name="role">
        {roles.map((role) => (
          <option key={role} value={role}>
            {t(role)}
          </option>
        ))}
      </select>
    </Field>
  );
}
