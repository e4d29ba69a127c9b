import { useState } from "preact/hooks";
import type {
  RolloutBody,
  RolloutPcShown,
  RolloutPcState,
  RolloutShown,
  UpdatePlan,
} from "../../../dashboard/types/devices/rollout.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { ago } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { State } from "../../ui/status/status-card.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { t } from "./update-texts.ts";

/** The update of the clinic PCs: the progress of the last one, and the button that starts one. */
export function Update({ of: { plan, rollout }, reload }: { of: RolloutBody; reload: () => Promise<void> }) {
  return (
    <>
      {rollout !== null && <Progress rollout={rollout} reload={reload} />}
      {plan !== null && rollout?.is !== "running" && may("admin") && <Start plan={plan} reload={reload} />}
    </>
  );
}

function Start({ plan, reload }: { plan: UpdatePlan; reload: () => Promise<void> }) {
  const [isAsking, setAsking] = useState(false);
  const { version, pcs, left } = plan;
  if (pcs.length === 0) return left.length === 0 ? null : <Left plan={plan} />;
  const button = t("update", { count: pcs.length });
  const start = async () => {
    await call("POST", `${clinicPath()}/rollout`, { version });
    await reload();
  };
  return (
    <p class="actions">
      <button type="button" onClick={() => setAsking(true)}>
        {button}
      </button>
      <span class="quiet">{t("available", { version })}</span>
      {isAsking && (
        <FormDialog title={t("title", { version })} button={button} act={start} close={() => setAsking(false)}>
          <p>
            {t("how")} <a href="/dashboard/help/updates">{t("help")}</a>
          </p>
          <ul class="update-pcs">
            {pcs.map(({ agent, name, from }) => (
              <li key={agent}>
                <strong>{name}</strong> <Versions from={from} to={version} />
              </li>
            ))}
          </ul>
          {left.length > 0 && <Left plan={plan} />}
        </FormDialog>
      )}
    </p>
  );
}

/** The PCs that cannot be updated from here, each with the reason. */
function Left({ plan: { version, left } }: { plan: UpdatePlan }) {
  return (
    <section class="quiet">
      <p>{t("left", { version })}</p>
      <ul class="update-pcs">
        {left.map(({ name, from, why }) => (
          <li key={name}>
            <strong>{name}</strong> {from !== null && `(${from})`} {t(`left ${why}`)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Progress({ rollout, reload }: { rollout: RolloutShown; reload: () => Promise<void> }) {
  const { run, retry, error, isRunning } = useAction();
  const { version, by, started_at, is, pcs } = rollout;
  const command = (path: string, body: object = {}) =>
    void run(async () => {
      await call("POST", `${clinicPath()}/rollout/${path}`, body);
      await reload();
    });
  const [done, all] = [pcs.filter(({ state }) => state === "done").length, pcs.length];
  return (
    <section class="card" aria-labelledby="update">
      <header class="between">
        <h2 id="update">{t("title", { version })}</h2>
        <State tone={tones[is]}>{t(is)}</State>
      </header>
      <p role="status">
        {t("count", { done, all })} {t(`${is} next`)}
      </p>
      <progress max={all} value={done} aria-label={t("count", { done, all })} />
      <p class="quiet">{t("startedBy", { by, ago: ago(started_at) })}</p>
      <ol class="update-pcs">
        {pcs.map((pc) => (
          <li key={pc.agent}>
            <Pc pc={pc} version={version} />
            {may("admin") && canSkip(rollout, pc) && (
              <button type="button" disabled={isRunning} onClick={() => command("skip", { agent: pc.agent })}>
                {t("skip", { name: pc.name })}
              </button>
            )}
          </li>
        ))}
      </ol>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {may("admin") && (
        <p class="actions">
          <button type="button" disabled={isRunning} onClick={() => command(is === "running" ? "stop" : "close")}>
            {is === "running" ? t("stop") : t("close")}
          </button>
        </p>
      )}
    </section>
  );
}

function Pc({ pc: { name, from, state, reason }, version }: { pc: RolloutPcShown; version: string }) {
  const hasFailed = state === "rolled back" || state === "refused";
  return (
    <>
      <strong>{name}</strong>{" "}
      {staysBehind.includes(state) ? <span class="quiet">{from}</span> : <Versions from={from} to={version} />}{" "}
      <span class={hasFailed || state === "silent" ? "bad" : undefined}>{t(`pc ${state}`)}</span>
      {hasFailed && (
        <div class="note note-bad">
          {reason !== null && (
            <p>
              {t("reason")} <span lang="en">{reason}</span>
            </p>
          )}
          <p>{t(`${state} pcNext`)}</p>
        </div>
      )}
    </>
  );
}

/** Final states that leave the old version on a PC. */
const staysBehind: readonly RolloutPcState[] = ["rolled back", "skipped", "kept"];

function Versions({ from, to }: { from: string | null; to: string }) {
  return (
    <span class="quiet">
      {from ?? "?"} → {to}
    </span>
  );
}

/** Whether this PC is the next one and has not started. */
function canSkip({ is, pcs }: RolloutShown, pc: RolloutPcShown): boolean {
  const current = pcs.find(({ state }) => state !== "done" && state !== "skipped");
  return is === "running" && pc === current && pc.state !== "preparing" && pc.state !== "trying";
}

const tones = { running: "good", done: "good", stopped: "plain", "rolled back": "bad" } as const;
