import type { DevicesBody } from "../../../dashboard/types/devices/devices.ts";
import type { RolloutBody } from "../../../dashboard/types/devices/rollout.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { useInterval } from "../../use-interval.ts";
import { may } from "../../session.ts";
import { AddPc } from "./add-pc.tsx";
import { Agent } from "./agent.tsx";
import { ConnectSteps } from "./connect-steps.tsx";
import { t } from "./texts.ts";
import { Update } from "./update.tsx";
import "./devices.css";

/** A silent PC sends no notice of a change, so the page reloads at this interval. */
const RELOAD_MS = 30_000;

/** The clinic PCs, each with its devices and the unknown callers of its ports. */
export function Devices() {
  const resource = useResource<DevicesBody>("/devices");
  const update = useResource<RolloutBody>("/rollout");
  useInterval(async () => Promise.all([resource.reload(), update.reload()]), RELOAD_MS);
  return (
    <>
      <h1>{t("devices")}</h1>
      <Loaded of={resource}>
        {({ agents }) => (
          <>
            {agents.length === 0 && (
              <section class="card connect">
                <h2>{t("none")}</h2>
                <p>{t(may("admin") ? "addFirst" : "askAdmin")}</p>
              </section>
            )}
            {may("admin") && <AddPc agents={agents} />}
            <Loaded of={update}>{(body) => <Update of={body} reload={update.reload} />}</Loaded>
            {agents.map((agent) => (
              <Agent key={agent.key.id} agent={agent} reload={resource.reload} />
            ))}
            <details class="card connect">
              <summary>{t("connect")}</summary>
              <ConnectSteps />
            </details>
          </>
        )}
      </Loaded>
    </>
  );
}
