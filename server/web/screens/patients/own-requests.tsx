import type { ConnectionList, OwnRequest } from "../../../dashboard/types/connections.ts";
import { call } from "../../api.ts";
import { Problem, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { dateTime, translations } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { MovingRows } from "../../ui/list/moving-rows.tsx";
import { connectionPath } from "./connection.tsx";

/** The connections that this clinic asked for and does not have: those that wait, and those refused or ended of late. */
export function OwnRequests() {
  const { data, reload } = useResource<ConnectionList>("/connections");
  const requests = data?.requests ?? [];
  if (requests.length === 0) return null;
  return (
    <section class="card" aria-labelledby="asked">
      <h2 id="asked">{t("title")}</h2>
      <MovingRows>
        <ul class="plain-list entries">
          {requests.map((request) => (
            <Row key={request.patient_fp} request={request} reload={reload} />
          ))}
        </ul>
      </MovingRows>
    </section>
  );
}

function Row({ request, reload }: { request: OwnRequest; reload: () => Promise<void> }) {
  const { run, retry, error, isRunning } = useAction();
  const { patient_fp: fp, state, asked_at, by, ended_at, clinic } = request;
  const withdraw = async () => {
    await call("DELETE", connectionPath(fp));
    await reload();
  };
  return (
    <li>
      <code>{fp}</code> {t(state, { clinic: clinic ?? "", date: dateTime(ended_at ?? asked_at) })}{" "}
      <span class="quiet">{t("by", { by, date: dateTime(asked_at) })}</span>{" "}
      {state === "waiting" && may("staff") && (
        <button
          type="button"
          disabled={isRunning}
          aria-label={t("withdrawOf", { fp })}
          onClick={() => void run(withdraw)}
        >
          {t("withdraw")}
        </button>
      )}
      {error !== undefined && <Problem error={error} retry={retry} />}
    </li>
  );
}

const t = translations({
  title: ["Connections asked for", "İstenen bağlantılar"],
  waiting: ["waits for confirmation by the clinic that has the patient.", "hastanın kliniğinin onayını bekliyor."],
  refused: ["{clinic} refused the connection on {date}.", "{clinic} bağlantıyı {date} tarihinde reddetti."],
  ended: ["{clinic} ended the connection on {date}.", "{clinic} bağlantıyı {date} tarihinde sonlandırdı."],
  by: ["Asked for by {by}, {date}", "İsteyen: {by}, {date}"],
  withdraw: ["Withdraw", "Geri çek"],
  withdrawOf: ["Withdraw: {fp}", "Geri çek: {fp}"],
});
