import { useSignal } from "@preact/signals";
import type { LocalLogLine } from "../../types/queue.ts";
import { Empty, Loaded, useLocal } from "../../../../server/web/resource.tsx";
import { useInterval } from "../../../../server/web/use-interval.ts";
import { translations } from "../../../../server/web/text.ts";
import { Badge } from "../../../../server/web/ui/status/badge.tsx";
import "./log.css";

/** A line of the log raises no change of the agent, so the page polls. */
const RELOAD_MS = 2_000;

/** The last lines of the agent's log, the newest first. */
export function Log() {
  const log = useLocal<readonly LocalLogLine[]>("/log");
  const areFaultsOnly = useSignal(false);
  useInterval(log.reload, RELOAD_MS);
  return (
    <>
      <h1>{t("log")}</h1>
      <p>
        <label>
          <input
            type="checkbox"
            checked={areFaultsOnly.value}
            onChange={({ currentTarget }) => (areFaultsOnly.value = currentTarget.checked)}
          />{" "}
          {t("faultsOnly")}
        </label>
      </p>
      <Loaded of={log}>
        {(lines) => <Lines lines={lines.filter(({ level }) => !areFaultsOnly.value || level !== "information")} />}
      </Loaded>
    </>
  );
}

function Lines({ lines }: { lines: readonly LocalLogLine[] }) {
  if (lines.length === 0) return <Empty title={t("none")}>{t("noneNext")}</Empty>;
  return (
    <ol class="plain-list log" lang="en">
      {lines.toReversed().map(({ time, level, message, fields }, index) => (
        <li key={index}>
          <span class="quiet">{time === "" ? "" : new Date(time).toLocaleTimeString("sv-SE")}</span>{" "}
          {level !== "information" && <Badge tone="warning">{t(level)}</Badge>} <strong>{message}</strong>{" "}
          <span class="quiet">{fields.join(", ")}</span>
        </li>
      ))}
    </ol>
  );
}

const t = translations({
  log: ["Log", "Günlük"],
  faultsOnly: ["Faults only", "Yalnızca arızalar"],
  none: ["No line", "Satır yok"],
  noneNext: ["The log begins when the agent starts.", "Günlük, aracı başladığında başlar."],
  error: ["fault", "arıza"],
  warning: ["warning", "uyarı"],
});
