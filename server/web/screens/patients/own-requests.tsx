import type { ConnectionList, OwnRequest } from "../../../dashboard/types/connections.ts";
import { call } from "../../api.ts";
import { Problem, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { dateTime, texts } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { connectionPath } from "./connection.tsx";

/** The connections that this clinic asked for and does not have: those that wait, and those refused or ended of late. */
export function OwnRequests() {
  const { data, reload } = useResource<ConnectionList>("/connections");
  const requests = data?.requests ?? [];
  if (requests.length === 0) return null;
  return (
    <section class="card" aria-labelledby="asked">
      <h2 id="asked">{t("title")}</h2>
      <ul class="plain-list entries">
        {requests.map((request) => (
          <Row key={request.patient_fp} request={request} reload={reload} />
        ))}
      </ul>
    </section>
  );
}

function Row({ request, reload }: { request: OwnRequest; reload: () => Promise<void> }) {
  const { run, error, isRunning } = useAction();
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
      {error !== undefined && <Problem error={error} />}
    </li>
  );
}

const t = texts(
  {
    title: "Connections asked for",
    waiting: "waits for confirmation by the clinic that has the patient.",
    refused: "{clinic} refused the connection on {date}.",
    ended: "{clinic} ended the connection on {date}.",
    by: "Asked for by {by}, {date}",
    withdraw: "Withdraw",
    withdrawOf: "Withdraw: {fp}",
  },
  {
    title: "İstenen bağlantılar",
    waiting: "hastanın kliniğinin onayını bekliyor.",
    refused: "{clinic} bağlantıyı {date} tarihinde reddetti.",
    ended: "{clinic} bağlantıyı {date} tarihinde sonlandırdı.",
    by: "İsteyen: {by}, {date}",
    withdraw: "Geri çek",
    withdrawOf: "Geri çek: {fp}",
  },
);
