import { useEffect } from "preact/hooks";
import type { LocalOverview, LocalRunning } from "../../types/overview.ts";
import { Empty, Loaded, useLocal } from "../../../../server/web/resource.tsx";
import { ago } from "../../../../server/web/text.ts";
import { Device } from "./device.tsx";
import { t } from "./texts.ts";
import "../app/wire.css";
import "./devices.css";

/** A silent device raises no change, so the page polls. */
const RELOAD_MS = 30_000;

/** Min difference of the clocks that the page shows. Smaller ones come from the network. */
const CLOCK_S = 60;

/** The agent, and a card for each device with its problem and remedy in words. */
export function Devices() {
  const overview = useLocal<LocalOverview>("/overview");
  useEffect(() => {
    const timer = setInterval(() => void overview.reload(), RELOAD_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <h1>{t("devices")}</h1>
      <Loaded of={overview}>
        {(shown) =>
          shown.state === "running" ? (
            <Running agent={shown} />
          ) : (
            <Empty title={t("notSetUp")}>
              <a href="/setup">{t("setUp")}</a>
            </Empty>
          )
        }
      </Loaded>
    </>
  );
}

function Running({ agent }: { agent: LocalRunning }) {
  const { devices } = agent;
  return (
    <>
      <Agent agent={agent} />
      {devices.length === 0 && <Empty title={t("none")}>{t("noneNext")}</Empty>}
      <div class="tiles">
        {devices.map((device) => (
          <Device key={device.id} device={device} />
        ))}
      </div>
      <p>
        <a href="/setup">{t("add")}</a>
      </p>
    </>
  );
}

/** The server, the queue, the clock, each problem that belongs to no device, and the version. */
function Agent({ agent }: { agent: LocalRunning }) {
  const { server, outbox, ready, devices, clock_offset_s } = agent;
  const general = [...ready.problems, ...ready.warnings].filter(({ what }) => devices.every(({ id }) => id !== what));
  const seconds = Math.abs(clock_offset_s ?? 0);
  return (
    <section class="card">
      <p>
        {t("server")}: {server.url}, <strong>{serverWord(server.state)}</strong>
      </p>
      <p>
        {outbox.oldest_at === null ? t("allSent") : t("waiting", { count: outbox.depth, since: ago(outbox.oldest_at) })}
      </p>
      {seconds >= CLOCK_S && <p>{t((clock_offset_s ?? 0) > 0 ? "clockAhead" : "clockBehind", { seconds })}</p>}
      {general.map(({ what, reason }) => (
        <p key={what} lang="en">
          {what}: {reason}
        </p>
      ))}
      <Version agent={agent} />
    </section>
  );
}

/** The version, with an upgrade that is under way or failed. */
function Version({ agent: { version, upgrade } }: { agent: LocalRunning }) {
  const of = upgrade === null ? undefined : UPGRADE_STATES.find((word) => word === upgrade.state);
  return (
    <p>
      {t("version", { version })}
      {upgrade !== null && of !== undefined && ` ${t(`upgrade ${of}`, { to: upgrade.to })}`}
      {upgrade !== null && upgrade.reason !== null && <span lang="en"> {upgrade.reason}</span>}
    </p>
  );
}

const UPGRADE_STATES = ["preparing", "trying", "rolled back", "refused"] as const;

const SERVER_STATES = [
  "not asked yet",
  "reached",
  "cannot be reached",
  "does not work",
  "wrong key",
  "key lacks permission",
] as const;

function serverWord(state: string): string {
  const known = SERVER_STATES.find((word) => word === state);
  return known === undefined ? state : t(known);
}
