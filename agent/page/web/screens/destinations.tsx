import { useState } from "preact/hooks";
import { outcomeAdvice } from "../../../../shared/network/hl7-sender/outcome-words.ts";
import { call, RequestError } from "../../../../server/web/api.ts";
import { type Resource, useLocal } from "../../../../server/web/resource.tsx";
import { ago, dateTime, language, translations } from "../../../../server/web/text.ts";
import { DataTable } from "../../../../server/web/ui/list/data-table.tsx";
import { State } from "../../../../server/web/ui/status/status-card.tsx";
import type { LocalDestination, LocalDestinations } from "../../types/destinations.ts";
import { ServerReason } from "./server-reason.tsx";

/** Practice software and folders that get results: their state, and what they refused. Nothing without any. */
export function Destinations() {
  const destinations = useLocal<LocalDestinations>("/destinations");
  const shown = destinations.data?.destinations ?? [];
  if (shown.length === 0) return null;
  return (
    <>
      <h2>{t("title")}</h2>
      {shown.map((destination) => (
        <Destination key={destination.id} destination={destination} reload={destinations.reload} />
      ))}
    </>
  );
}

function Destination({
  destination: { id, kind, to, state, code, text, last_sent_at, waiting, parked },
  reload,
}: {
  destination: LocalDestination;
  reload: Resource<LocalDestinations>["reload"];
}) {
  const advice = code === null ? null : outcomeAdvice(code, text, language.value);
  return (
    <section class="card">
      <h3>
        {id} <span class="quiet">{t(kind)}</span>
      </h3>
      <p>
        <State tone={TONES[state]}>{t(state)}</State> <code>{to}</code>
      </p>
      {advice !== null && (
        <p>
          {advice.fault}. {advice.remedy !== null && t("remedy", { remedy: advice.remedy })}
        </p>
      )}
      {code === null && text !== null && (
        <p>
          <ServerReason of={text} />
        </p>
      )}
      <p class="quiet">
        {last_sent_at === null ? t("neverSent") : t("lastSent", { when: ago(last_sent_at) })}{" "}
        {waiting !== null && waiting > 0 && t("waits", { count: waiting })}
      </p>
      {parked !== null && parked.length > 0 && <Parked id={id} parked={parked} reload={reload} />}
    </section>
  );
}

const TONES = {
  idle: "plain",
  connected: "good",
  sending: "plain",
  failed: "bad",
  "server away": "bad",
  "not served": "plain",
} as const;

function Parked({
  id,
  parked,
  reload,
}: {
  id: string;
  parked: NonNullable<LocalDestination["parked"]>;
  reload: Resource<LocalDestinations>["reload"];
}) {
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<RequestError | null>(null);
  const again = async (...delivery_ids: number[]) => {
    setSending(true);
    setError(null);
    try {
      await call("POST", `/destinations/${encodeURIComponent(id)}/again`, { delivery_ids });
      await reload();
    } catch (fault) {
      if (!(fault instanceof RequestError)) throw fault;
      setError(fault);
    } finally {
      setSending(false);
    }
  };
  return (
    <>
      <p>
        <strong>{t("refused", { count: parked.length })}</strong> {t("correct")}
      </p>
      {error !== null && <NotQueued reason={error.message} />}
      <DataTable
        label={t("refusedOf", { id })}
        class="cards"
        columns={[t("when"), t("study"), t("reason"), t("action")]}
      >
        {parked.map(({ delivery_id, study_fp, at, code, text }) => (
          <tr key={delivery_id}>
            <th scope="row">{dateTime(at)}</th>
            <td>
              <code>{study_fp}</code>
            </td>
            <td>{outcomeAdvice(code ?? "", text, language.value)?.fault ?? text ?? code}</td>
            <td>
              <button type="button" disabled={isSending} onClick={() => void again(delivery_id)}>
                {t("again")}
              </button>
            </td>
          </tr>
        ))}
      </DataTable>
      {parked.length > 1 && (
        <p class="actions">
          <button
            type="button"
            disabled={isSending}
            onClick={() => void again(...parked.map(({ delivery_id }) => delivery_id))}
          >
            {t("allAgain")}
          </button>
        </p>
      )}
    </>
  );
}

function NotQueued({ reason }: { reason: string }) {
  return (
    <div class="problem" role="alert">
      <strong>{t("notQueued")}</strong>
      <p>
        <ServerReason of={reason} />
      </p>
    </div>
  );
}

const t = translations({
  title: ["Practice software and folders", "Klinik yazılımı ve klasörler"],
  hl7: ["HL7 messages", "HL7 iletileri"],
  csv: ["CSV files", "CSV dosyaları"],
  idle: ["Ready", "Hazır"],
  connected: ["Connected", "Bağlı"],
  sending: ["Sending", "Gönderiliyor"],
  failed: ["Not sent, tries again", "Gönderilemedi, yeniden deniyor"],
  "server away": ["Waits for the server", "Sunucuyu bekliyor"],
  "not served": ["Not served", "Hizmet dışı"],
  remedy: ["What to do: {remedy}.", "Yapılacak: {remedy}."],
  neverSent: ["Nothing sent yet.", "Henüz bir şey gönderilmedi."],
  lastSent: ["Last sent {when}.", "Son gönderim: {when}."],
  waits: ["{count} {count|result waits|results wait}.", "{count} sonuç bekliyor."],
  refused: ["{count} {count|result was|results were} refused.", "{count} sonuç reddedildi."],
  correct: [
    "The receiver does not take them. Correct the reason there, then send them again.",
    "Alıcı bunları almıyor. Nedenini orada düzeltin, sonra yeniden gönderin.",
  ],
  refusedOf: ["Refused by {id}", "{id} tarafından reddedilenler"],
  when: ["When", "Zaman"],
  study: ["Study", "Çalışma"],
  reason: ["Reason", "Neden"],
  action: ["Action", "İşlem"],
  again: ["Send again", "Yeniden gönder"],
  notQueued: ["They cannot be sent again now", "Şu anda yeniden gönderilemiyor"],
  allAgain: ["Send all again", "Tümünü yeniden gönder"],
});
