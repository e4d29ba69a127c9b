import { useState } from "preact/hooks";
import { type AgentShown, CLOCK_OFFSET_S_MAX } from "../../../dashboard/types/devices/devices.ts";
import { call } from "../../api.ts";
import { clinicPath, may } from "../../session.ts";
import { ago, dateTime } from "../../text.ts";
import { Facts } from "../../ui/status/facts.tsx";
import { State } from "../../ui/status/status-card.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { Callers } from "./callers.tsx";
import { Device } from "./device.tsx";
import { EditDevices } from "./edit-devices.tsx";
import { t } from "./texts.ts";
import { t as updateText } from "./update-texts.ts";

/** One clinic PC: its state, its devices and its unknown callers. */
export function Agent({ agent, reload }: { agent: AgentShown; reload: () => Promise<void> }) {
  const { key, is, devices, callers } = agent;
  const id = `agent-${key.id}`;
  return (
    <section class="card" aria-labelledby={id}>
      <header class="between">
        <h2 id={id}>{key.name}</h2>
        <State tone={agent.is_revoked ? "plain" : tones[is]}>{stateWords(agent)}</State>
      </header>
      <NextStep agent={agent} />
      {is !== "never heard" && <AgentFacts agent={agent} />}
      {devices.length > 0 ? (
        <div class="tiles">
          {devices.map((device) => (
            <Device key={device.id} device={device} />
          ))}
        </div>
      ) : (
        is !== "never heard" && <p class="quiet">{t("noDevices")}</p>
      )}
      {callers.length > 0 && <Callers callers={callers} devices={devices} />}
      <ConfigurationNote agent={agent} />
      {may("admin") && !agent.is_revoked && <Manage agent={agent} reload={reload} />}
    </section>
  );
}

function NextStep({ agent: { is, is_revoked, paired_at } }: { agent: AgentShown }) {
  if (is_revoked) return <p class="note note-bad">{t("revokedNext")}</p>;
  if (is === "silent") return <p class="note note-bad">{t("silentNext")}</p>;
  if (is === "running") return null;
  return <p>{t(paired_at === null ? "neverHeardNext" : "pairedNext")}</p>;
}

/** Shows the outcome of the devices that were saved here. */
function ConfigurationNote({ agent: { configuration, is_revoked } }: { agent: AgentShown }) {
  if (is_revoked) return null;
  if (configuration === "refused") return <p class="note note-bad">{t("refusedNote")}</p>;
  if (configuration === "waiting") return <p class="quiet">{t("waitingNext")}</p>;
  return configuration === "local" ? <p class="quiet">{t("localNext")}</p> : null;
}

/** Edits the devices of a PC, or revokes its key after a confirmation. */
function Manage({ agent, reload }: { agent: AgentShown; reload: () => Promise<void> }) {
  const { key, fp, configuration } = agent;
  const [isAsking, setAsking] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const isEditable = fp !== null && configuration !== "unknown" && configuration !== "local";
  const revoke = async () => {
    await call("POST", `${clinicPath()}/keys/${key.id}/revoke`, {});
    await reload();
  };
  return (
    <p class="actions">
      {isEditable && (
        <button type="button" onClick={() => setEditing(true)}>
          {t("editDevices")}
        </button>
      )}
      <button type="button" onClick={() => setAsking(true)}>
        {t("revoke")}
      </button>
      {isEditing && <EditDevices agent={agent} close={() => setEditing(false)} />}
      {isAsking && (
        <FormDialog
          title={t("revokeTitle", { name: key.name })}
          button={t("revokeNow")}
          isDangerous
          act={revoke}
          close={() => setAsking(false)}
        >
          <p>{t("revokeWhy")}</p>
        </FormDialog>
      )}
    </p>
  );
}

const tones = { running: "good", silent: "bad", "never heard": "plain" } as const;

function stateWords({ is, is_revoked }: AgentShown): string {
  if (is_revoked) return t("revoked");
  return is === "running" ? t("running") : is === "silent" ? t("silentAgent") : t("neverHeardAgent");
}

const FAILED = ["rolled back", "refused"] as const;

/** Shows the reason why the last update of the PC failed. */
function FailedUpdate({ of: upgrade }: { of: AgentShown["upgrade"] }) {
  const state = FAILED.find((word) => word === upgrade?.state);
  if (upgrade === null || state === undefined) return null;
  const { to: version, reason } = upgrade;
  return <p class="quiet">{updateText(`failed ${state}`, { version, reason: reason ?? state })}</p>;
}

function AgentFacts({ agent: { last_seen_at, version, clock_offset_s, outbox, upgrade } }: { agent: AgentShown }) {
  const isClockWrong = Math.abs(clock_offset_s ?? 0) > CLOCK_OFFSET_S_MAX;
  return (
    <>
      <Facts
        of={[
          [
            t("lastSeen"),
            <span key="seen" title={last_seen_at === null ? undefined : dateTime(last_seen_at)}>
              {last_seen_at === null ? t("unknown") : ago(last_seen_at)}
            </span>,
          ],
          [t("version"), version ?? t("unknown")],
          [
            t("clock"),
            <span key="clock" class={isClockWrong ? "bad" : undefined}>
              {clockWords(clock_offset_s)}
            </span>,
          ],
          [t("outbox"), outboxWords(outbox)],
        ]}
      />
      <FailedUpdate of={upgrade} />
      {isClockWrong && <p class="note note-bad">{t("clockWrong")}</p>}
    </>
  );
}

/** The Date header has whole seconds, so smaller offsets are noise. */
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
