import { type AgentShown, CLOCK_OFFSET_S_MAX } from "../../../../shared/dashboard/devices.ts";
import { ago, dateTime } from "../../text.ts";
import { Callers } from "./callers.tsx";
import { Device } from "./device.tsx";
import { t } from "./texts.ts";

/** One clinic PC: its own state, its devices, and who else called it. */
export function Agent({ agent }: { agent: AgentShown }) {
  const { key, is, devices, callers } = agent;
  const id = `agent-${key.id}`;
  return (
    <section class="card" aria-labelledby={id}>
      <header class="agent-head">
        <h2 id={id}>{key.name}</h2>
        <strong class={`state state-${tones[is]}`}>{stateWords(agent)}</strong>
      </header>
      {is === "silent" && <p class="note note-bad">{t("silentNext")}</p>}
      {is === "never heard" ? <p>{t("neverHeardNext")}</p> : <Facts agent={agent} />}
      {devices.length > 0 ? (
        <ul class="devices">
          {devices.map((device) => (
            <li key={device.id}>
              <Device device={device} />
            </li>
          ))}
        </ul>
      ) : (
        is !== "never heard" && <p class="quiet">{t("noDevices")}</p>
      )}
      {callers.length > 0 && <Callers callers={callers} devices={devices} />}
    </section>
  );
}

const tones = { running: "good", silent: "bad", "never heard": "plain" };

function stateWords({ is }: AgentShown): string {
  return is === "running" ? t("running") : is === "silent" ? t("silentAgent") : t("neverHeardAgent");
}

function Facts({ agent: { last_seen_at, version, clock_offset_s, outbox } }: { agent: AgentShown }) {
  const isClockWrong = Math.abs(clock_offset_s ?? 0) > CLOCK_OFFSET_S_MAX;
  return (
    <>
      <dl class="agent-facts">
        <div>
          <dt>{t("lastSeen")}</dt>
          <dd title={last_seen_at === null ? undefined : dateTime(last_seen_at)}>
            {last_seen_at === null ? t("unknown") : ago(last_seen_at)}
          </dd>
        </div>
        <div>
          <dt>{t("version")}</dt>
          <dd>{version ?? t("unknown")}</dd>
        </div>
        <div>
          <dt>{t("clock")}</dt>
          <dd class={isClockWrong ? "bad" : undefined}>{clockWords(clock_offset_s)}</dd>
        </div>
        <div>
          <dt>{t("outbox")}</dt>
          <dd>{outboxWords(outbox)}</dd>
        </div>
      </dl>
      {isClockWrong && <p class="note note-bad">{t("clockWrong")}</p>}
    </>
  );
}

/** The server tells times in whole seconds, so that smaller offsets mean nothing. */
const CLOCK_S_EXACT = 5;

function clockWords(offset: number | null): string {
  if (offset === null) return t("unknown");
  if (Math.abs(offset) < CLOCK_S_EXACT) return t("clockRight");
  const seconds = Math.abs(offset);
  return offset > 0 ? t("clockAhead", { seconds }) : t("clockBehind", { seconds });
}

function outboxWords(outbox: AgentShown["outbox"]): string {
  if (outbox === null) return t("unknown");
  if (outbox.depth === 0) return t("outboxEmpty");
  if (outbox.oldest_at === null) return String(outbox.depth);
  return t("outboxWaiting", { count: outbox.depth, ago: ago(outbox.oldest_at) });
}
