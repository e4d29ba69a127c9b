import type { LocalOutbox } from "../../types/queue.ts";
import { Destinations } from "./destinations.tsx";
import { ServerReason } from "./server-reason.tsx";
import { serverWord } from "../devices/server-word.ts";
import { Empty, Loaded, useLocal } from "../../../../server/web/resource.tsx";
import { ago, translations } from "../../../../server/web/text.ts";
import { DataTable } from "../../../../server/web/ui/list/data-table.tsx";
import { studyWord } from "../../../../server/web/ui/words/study-word.ts";

/** The results that the server does not have yet, the oldest first, and why they wait. */
export function Outbox() {
  const outbox = useLocal<LocalOutbox>("/outbox");
  return (
    <>
      <h1>{t("outbox")}</h1>
      <Loaded of={outbox}>
        {(shown) => (
          <>
            {shown.depth === 0 ? <Empty title={t("none")}>{t("noneNext")}</Empty> : <Waiting outbox={shown} />}
            {shown.quality > 0 && <p class="quiet">{t("quality", { count: shown.quality })}</p>}
          </>
        )}
      </Loaded>
      <Destinations />
    </>
  );
}

function Waiting({ outbox: { depth, studies, server } }: { outbox: LocalOutbox }) {
  return (
    <>
      <section class="card">
        <p>
          <strong>{t("waiting", { count: depth })}</strong> {t("kept")}
        </p>
        {server.reason === null ? (
          <p>{t("soon")}</p>
        ) : (
          <p>
            {server.url}: {serverWord(server.state)}. <ServerReason of={server.reason} />
          </p>
        )}
        {studies.length < depth && <p class="quiet">{t("oldest", { count: studies.length })}</p>}
      </section>
      <DataTable
        label={t("outbox")}
        class="cards"
        columns={[t("since"), t("device"), t("study"), [t("tries"), "number labelled"], t("message")]}
      >
        {studies.map(({ fp, revision, modality, device, message, created_at, send_attempts }) => (
          <tr key={`${fp} ${revision}`}>
            <th scope="row">{ago(created_at)}</th>
            <td>{device}</td>
            <td>{studyWord(modality)}</td>
            <td class="number">{send_attempts}</td>
            <td>
              <a href={`/messages/${encodeURIComponent(message)}`}>{t("show", { id: message.slice(-6) })}</a>
            </td>
          </tr>
        ))}
      </DataTable>
    </>
  );
}

const t = translations({
  outbox: ["To send", "Gönderilecek"],
  none: ["Every result is sent", "Tüm sonuçlar gönderildi"],
  noneNext: ["A new result goes to the server within seconds.", "Yeni bir sonuç birkaç saniye içinde sunucuya gider."],
  waiting: ["{count} {count|result waits|results wait} for the server.", "{count} sonuç sunucuyu bekliyor."],
  kept: [
    "They stay on this PC until the server has them, so nothing is lost.",
    "Sunucu alana kadar bu bilgisayarda kalırlar; hiçbir şey kaybolmaz.",
  ],
  soon: ["The agent sends them now.", "Aracı şimdi gönderiyor."],
  oldest: ["The oldest {count} are shown.", "En eski {count} sonuç gösteriliyor."],
  quality: [
    "{count} {count|record|records} of controls and devices {count|waits|wait} for the server. No result waits for them, and a server of an older version takes them after its update.",
    "{count} kontrol ve cihaz kaydı sunucuyu bekliyor. Hiçbir sonuç bunları beklemez; eski sürümlü bir sunucu bunları güncellendikten sonra alır.",
  ],
  since: ["Waits since", "Bekleme başlangıcı"],
  device: ["Device", "Cihaz"],
  study: ["Kind", "Tür"],
  tries: ["Tries", "Deneme"],
  message: ["Message", "İleti"],
  show: ["Message …{id}", "İleti …{id}"],
});
