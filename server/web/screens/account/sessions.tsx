import type { SessionOfUser } from "../../../dashboard/types/settings/account.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { refreshSession } from "../../session.ts";
import { ago, dateTime } from "../../text.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { MovingRows } from "../../ui/list/moving-rows.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { browserName } from "./browser-name.ts";
import { t } from "./texts.ts";

/** Lists the browsers in which the user is signed in. */
export function Sessions({ sessions, changed }: { sessions: SessionOfUser[]; changed: () => Promise<void> }) {
  const { run, retry, error, isRunning } = useAction();
  const end = ({ id, is_this }: SessionOfUser) =>
    void run(async () => {
      await call("DELETE", `/account/sessions/${id}`);
      await (is_this ? refreshSession() : changed());
    });
  const endAll = () =>
    void run(async () => {
      await call("POST", "/account/sign-out-everywhere", {});
      await refreshSession();
    });
  return (
    <section>
      <h2>{t("sessions")}</h2>
      <p class="quiet">{t("sessionsWhy")}</p>
      {error !== undefined && <Problem error={error} retry={retry} />}
      <MovingRows>
        <DataTable
          label={t("sessions")}
          columns={[t("browser"), [t("address"), "detail"], t("lastUse"), [t("started"), "detail"], t("action")]}
        >
          {sessions.map((session) => (
            <tr key={session.id}>
              <th scope="row">
                {session.browser === null ? t("unknown") : browserName(session.browser)}
                {session.is_this && <div class="quiet this-session">{t("thisSession")}</div>}
              </th>
              <td class="detail">{session.address}</td>
              <td>{ago(session.last_used_at)}</td>
              <td class="detail">{dateTime(session.started_at)}</td>
              <td>
                <button type="button" disabled={isRunning} onClick={() => end(session)}>
                  {session.is_this ? t("signOut") : t("end")}
                </button>
              </td>
            </tr>
          ))}
        </DataTable>
      </MovingRows>
      <p>
        <button type="button" class="danger" disabled={isRunning} onClick={endAll}>
          {t("everywhere")}
        </button>
      </p>
    </section>
  );
}
