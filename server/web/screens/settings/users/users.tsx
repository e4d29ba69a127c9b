import type { UserList, UserOfClinic } from "../../../../dashboard/types/settings/users.ts";
import { useState } from "preact/hooks";
import { Loaded, useResource } from "../../../resource.tsx";
import { refreshSession } from "../../../session.ts";
import { SettingsFrame } from "../frame.tsx";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { useSorted } from "../../../ui/list/use-sorted.ts";
import { ManageDialog } from "./manage-user.tsx";
import { sessionsOf } from "./parts.tsx";
import { AddUserDialog, NewUserDialog } from "./new-user.tsx";
import { t } from "./texts.ts";
import "./users.css";

export function Users() {
  return (
    <SettingsFrame part="users">
      <UsersOfClinic />
    </SettingsFrame>
  );
}

function UsersOfClinic() {
  const list = useResource<UserList>("/users");
  const [open, setOpen] = useState<"new" | "add" | UserOfClinic | null>(null);
  const close = () => {
    const isYou = open !== null && typeof open === "object" && open.is_you;
    setOpen(null);
    // The change may be to the user's own role, which decides what the page shows.
    void (isYou ? refreshSession() : Promise.resolve()).then(list.reload);
  };
  return (
    <>
      <p class="quiet">{t("intro")}</p>
      <Loaded of={list}>
        {({ users }) => (
          <>
            <p class="actions">
              <button type="button" class="primary" onClick={() => setOpen("new")}>
                {t("newUser")}
              </button>
              <button type="button" onClick={() => setOpen("add")}>
                {t("addUser")}
              </button>
            </p>
            <UserTable users={users} manage={setOpen} />
          </>
        )}
      </Loaded>
      {open === "new" && <NewUserDialog close={close} />}
      {open === "add" && <AddUserDialog close={close} />}
      {open !== null && typeof open === "object" && <ManageDialog user={open} close={close} />}
    </>
  );
}

function UserTable({ users, manage }: { users: UserOfClinic[]; manage: (user: UserOfClinic) => void }) {
  const { rows, column } = useSorted(users, { name: ({ name }) => name, role: ({ role }) => t(role) });
  return (
    <DataTable
      label={t("users")}
      class="users"
      columns={[
        column("name", t("name")),
        column("role", t("role")),
        [t("secondFactor"), "detail"],
        [t("sessions"), "detail"],
        t("action"),
      ]}
    >
      {rows.map((user) => (
        <tr key={user.id} class={user.is_disabled ? "disabled-user" : undefined}>
          <th scope="row">
            {user.name}
            {user.is_you && <span class="quiet user-note"> {t("you")}</span>}
            {user.is_password_known && <div class="fault user-note">{t("passwordKnown")}</div>}
            {user.is_disabled && <div class="quiet user-note">{t("disabled")}</div>}
          </th>
          <td>{t(user.role)}</td>
          <td class="detail">{user.has_second_factor ? t("on") : t("off")}</td>
          <td class="detail">{sessionsOf(user)}</td>
          <td>
            <button type="button" aria-label={t("manageUser", { name: user.name })} onClick={() => manage(user)}>
              {t("manage")}
            </button>
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
