import type { ListeningStep } from "../../types/setup.ts";
import { Bytes } from "./bytes.tsx";
import type { Say } from "./say.ts";
import { ProblemNote } from "./problem-note.tsx";
import { t } from "./texts.ts";

/** Shows the bytes as they come, while the agent listens. */
export function Listening({ step, say }: { step: ListeningStep; say: Say }) {
  const { line, addresses, setting, unread, bytes, shown, secondsLeft, problem } = step;
  const last = unread.at(-1);
  return (
    <>
      <p class="instruction">{line.kind === "imaging" ? t("sendImage") : t("sendResult")}</p>
      {(line.kind === "listen" || line.kind === "imaging") && (
        <p>
          {t("settingsOfDevice")} <strong>{addresses.join(", ")}</strong>, {t("port")} <strong>{line.port}</strong>
        </p>
      )}
      <div role="status">
        <ProblemNote of={problem} />
        {last !== undefined && setting !== null && <p class="note">{t("sendAgain", { last, setting })}</p>}
        <p>{bytes === 0 ? t("noBytes") : t("bytes", { bytes })}</p>
      </div>
      {setting !== null && (
        <p class="quiet">
          {t("speedNow")} {setting}
        </p>
      )}
      <Bytes shown={shown} />
      <p class="quiet">{t("secondsLeft", { seconds: secondsLeft })}</p>
      <p class="quiet">{t("keepsResult")}</p>
      <p class="actions">
        <button type="button" onClick={() => void say({ to: "listening", stop: true })}>
          {t("stop")}
        </button>
      </p>
    </>
  );
}
