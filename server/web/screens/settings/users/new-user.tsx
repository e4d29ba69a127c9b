import type { Role } from "../../../../../shared/dashboard/session.ts";
import { PASSWORD_CHARS_MIN, roles } from "../../../../../shared/dashboard/session.ts";
import type { AddUserBody, GivenPassword, NewUserBody } from "../../../../../shared/dashboard/users.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { formValues } from "../../../ui/form.ts";
import { useAction } from "../../../ui/use-action.ts";
import { Fault, Given } from "./parts.tsx";
import { t } from "./texts.ts";

// Dialogs that bring a user into the clinic.

/** Makes a user, and shows the first password once. */
export function NewUserDialog({ close }: { close: () => void }) {
  const { run, error, isRunning } = useAction();
  const [given, setGiven] = useState<GivenPassword | null>(null);
  const submit = (event: SubmitEvent) => {
    const { name = "", role, password = "" } = formValues(event);
    const body: NewUserBody = { name, role: role as Role, ...(password !== "" && { password }) };
    void run(async () => {
      const answer = await call<GivenPassword>("POST", `${clinicPath()}/users`, body);
      if (answer.password === null) close();
      else setGiven(answer);
    });
  };
  return (
    <Dialog title={t("newUser")} close={close}>
      {given !== null ? (
        <Given of={given} close={close} />
      ) : (
        <form onSubmit={submit}>
          <Field label={t("name")} hint={t("nameHint")}>
            <input name="name" maxLength={100} autocomplete="off" required />
          </Field>
          <RoleField />
          <Field label={t("firstPassword")} hint={t("firstPasswordHint", { count: PASSWORD_CHARS_MIN })}>
            <input name="password" minLength={PASSWORD_CHARS_MIN} autocomplete="off" />
          </Field>
          <Fault error={error} sentences={{ "RECORD.REFUSED": t("taken") }} />
          <p class="actions">
            <button type="submit" class="primary" disabled={isRunning}>
              {t("create")}
            </button>
            <button type="button" onClick={close}>
              {t("cancel")}
            </button>
          </p>
        </form>
      )}
    </Dialog>
  );
}

/** Gives a user of another clinic a role in this one. */
export function AddUserDialog({ close }: { close: () => void }) {
  const { run, error, isRunning } = useAction();
  const submit = (event: SubmitEvent) => {
    const { name = "", role } = formValues(event);
    void run(async () => {
      await call("POST", `${clinicPath()}/users/add`, { name, role: role as Role } satisfies AddUserBody);
      close();
    });
  };
  return (
    <Dialog title={t("addUser")} close={close}>
      <form onSubmit={submit}>
        <p>{t("addWhy")}</p>
        <Field label={t("name")}>
          <input name="name" maxLength={100} autocomplete="off" required />
        </Field>
        <RoleField />
        <Fault error={error} sentences={{ "RECORD.NOT_FOUND": t("nobody"), "RECORD.REFUSED": t("already") }} />
        <p class="actions">
          <button type="submit" class="primary" disabled={isRunning}>
            {t("add")}
          </button>
          <button type="button" onClick={close}>
            {t("cancel")}
          </button>
        </p>
      </form>
    </Dialog>
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
