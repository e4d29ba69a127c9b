import { useSignal } from "@preact/signals";
import type { LocalFixture, LocalMessage } from "../../types/messages.ts";
import { call } from "../../../../server/web/api.ts";
import { Loaded, Problem, useLocal } from "../../../../server/web/resource.tsx";
import { dateTime } from "../../../../server/web/text.ts";
import { useAction } from "../../../../server/web/ui/form/use-action.ts";
import { State } from "../../../../server/web/ui/status/status-card.tsx";
import { DocumentPane, RawPane, ReportPane, StudyPane } from "./panes.tsx";
import { QualityPane } from "./quality.tsx";
import { Reprocess } from "./reprocess.tsx";
import { stateTone, stateWord, t } from "./texts.ts";
import "../app/wire.css";
import "./messages.css";
import { ReasonText } from "./reason.tsx";

/** A message: the studies that were filed, what was read, and the bytes. A message that was not read shows its bytes first. */
export function Message({ id }: { id: string }) {
  const message = useLocal<LocalMessage>(`/messages/${encodeURIComponent(id)}`);
  return (
    <>
      <p class="back">
        <a href="/messages">{t("back")}</a>
      </p>
      <Loaded of={message}>{(shown) => <Shown message={shown} reload={message.reload} />}</Loaded>
    </>
  );
}

function Shown({ message, reload }: { message: LocalMessage; reload: () => Promise<void> }) {
  const { id, device, profile, received_at, state, time_line } = message;
  const isAsked = useSignal(false);
  // The agent reads no rows of an image or a document. The reading of a message with studies comes before its bytes.
  const isReading = !message.is_image && message.document === null;
  const isFiled = message.studies.length > 0;
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t("title", { device, at: dateTime(received_at) })}</h1>
          <p class="message-text">
            {profile} · {t("number")} {id}
          </p>
        </div>
        <div class="actions">
          <button type="button" onClick={() => (isAsked.value = true)}>
            {t("reprocess")}
          </button>
          {!message.is_image && <Save id={id} isDocument={message.document !== null} />}
          {!message.is_image && message.document === null && (
            <a href={`/maker?message=${encodeURIComponent(id)}&device=${encodeURIComponent(device)}`}>{t("maker")}</a>
          )}
        </div>
      </div>
      <p class={`message-state message-${stateTone(state)}`}>
        <State tone={stateTone(state)}>{stateWord(state)}</State> <ReasonText of={message} />
      </p>
      {isAsked.value && <Reprocess id={id} close={() => (isAsked.value = false)} stored={reload} />}
      {message.studies.length > 0 && <StudyPane studies={message.studies} />}
      {message.quality.length > 0 && <QualityPane quality={message.quality} />}
      <div class="panes">
        {isReading && isFiled && <ReportPane report={message.report} />}
        {message.document !== null && <DocumentPane document={message.document} />}
        <RawPane message={message} />
        {isReading && !isFiled && message.quality.length === 0 && <ReportPane report={message.report} />}
      </div>
      <section class="card">
        <details>
          <summary>
            {t("timeLine")} <span class="quiet">{t("forSupport")}</span>
          </summary>
          <pre class="wire" tabIndex={0} lang="en" role="region" aria-label={t("timeLine")}>
            {time_line.join("\n")}
          </pre>
        </details>
      </section>
    </>
  );
}

/** Saves the recording of the message by the browser, and shows what the user has to know before it leaves the house. */
function Save({ id, isDocument }: { id: string; isDocument: boolean }) {
  const { run, retry, error, isRunning } = useAction();
  const saved = useSignal<LocalFixture | null>(null);
  const save = () =>
    run(async () => {
      const fixture = await call<LocalFixture>("GET", `/messages/${encodeURIComponent(id)}/fixture`);
      const bytes = Uint8Array.from(atob(fixture.base64), (character) => character.charCodeAt(0));
      const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = fixture.file_name;
      link.click();
      URL.revokeObjectURL(url);
      saved.value = fixture;
    });
  return (
    <>
      <button type="button" disabled={isRunning} onClick={() => void save()}>
        {t(isDocument ? "saveDocument" : "save")}
      </button>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {saved.value !== null && (
        <div role="status" class="message-saved">
          {t("saved", { file: saved.value.file_name })}
          <ul lang="en">
            {saved.value.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
