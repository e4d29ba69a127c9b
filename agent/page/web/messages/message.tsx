import { useSignal } from "@preact/signals";
import type { LocalFixture, LocalMessage } from "../../types/messages.ts";
import { call } from "../../../../server/web/api.ts";
import { Loaded, Problem, useLocal } from "../../../../server/web/resource.tsx";
import { dateTime } from "../../../../server/web/text.ts";
import { useAction } from "../../../../server/web/ui/form/use-action.ts";
import { RawPane, ReportPane, StudyPane } from "./panes.tsx";
import { Reprocess } from "./reprocess.tsx";
import { stateWord, t } from "./texts.ts";
import "../app/wire.css";
import "./messages.css";
import { ReasonText } from "./reason.tsx";

/** A message in three panes: its bytes, what was read in them, and what was filed. */
export function Message({ id }: { id: string }) {
  const message = useLocal<LocalMessage>(`/messages/${encodeURIComponent(id)}`);
  return (
    <>
      <p>
        <a href="/messages">{t("back")}</a>
      </p>
      <h1>{t("message", { id })}</h1>
      <Loaded of={message}>{(shown) => <Shown message={shown} reload={message.reload} />}</Loaded>
    </>
  );
}

function Shown({ message, reload }: { message: LocalMessage; reload: () => Promise<void> }) {
  const { id, device, profile, received_at, state, time_line } = message;
  const isAsked = useSignal(false);
  return (
    <>
      <section class="card">
        <p>
          <strong>{stateWord(state)}</strong>
          <ReasonText of={message} lead=": " />
        </p>
        <p class="quiet">
          {device}, {profile}, {dateTime(received_at)}
        </p>
        <p class="actions">
          <button type="button" onClick={() => (isAsked.value = true)}>
            {t("reprocess")}
          </button>
          {!message.is_image && <Save id={id} />}
          {!message.is_image && (
            <a href={`/maker?message=${encodeURIComponent(id)}&device=${encodeURIComponent(device)}`}>{t("maker")}</a>
          )}
        </p>
        {isAsked.value && <Reprocess id={id} close={() => (isAsked.value = false)} stored={reload} />}
      </section>
      <div class="panes">
        <RawPane message={message} />
        <ReportPane report={message.report} isImage={message.is_image} />
        <StudyPane studies={message.studies} />
      </div>
      <section class="card">
        <h2>{t("timeLine")}</h2>
        <pre class="wire" tabIndex={0} lang="en" role="region" aria-label={t("timeLine")}>
          {time_line.join("\n")}
        </pre>
      </section>
    </>
  );
}

/** Saves the recording of the message by the browser, and shows what the user has to know before it leaves the house. */
function Save({ id }: { id: string }) {
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
        {t("save")}
      </button>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {saved.value !== null && (
        <div role="status">
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
