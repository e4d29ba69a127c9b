import { useSignal } from "@preact/signals";
import type { LocalOverview, LocalRunning } from "../../types/overview.ts";
import { Empty, Loaded, useLocal } from "../../../../server/web/resource.tsx";
import { useInterval } from "../../../../server/web/use-interval.ts";
import { ago } from "../../../../server/web/text.ts";
import { Need, NeedList } from "../../../../server/web/ui/list/needs.tsx";
import { Facts } from "../../../../server/web/ui/status/facts.tsx";
import { serverWord } from "./server-word.ts";
import { byNeed, faultyDevices } from "./device-words.ts";
import { Adopt } from "./adopt.tsx";
import { Device } from "./device.tsx";
import { t } from "./texts.ts";
import "../app/wire.css";
import "./devices.css";

/** A silent device raises no change, so the page polls. */
const RELOAD_MS = 30_000;

/** Min difference of the clocks that the page shows. Smaller ones come from the network. */
const CLOCK_S = 60;

/** Lists all that needs a person, a card for each device with its problem and remedy in words, and this PC in a rail. */
export function Devices() {
  const overview = useLocal<LocalOverview>("/overview");
  // The cards go while the agent starts with the newer profile; the dialog says how it ended.
  const adopting = useSignal<string | null>(null);
  useInterval(overview.reload, RELOAD_MS);
  return (
    <>
      {adopting.value !== null && (
        <Adopt device={adopting.value} close={() => (adopting.value = null)} adopted={overview.reload} />
      )}
      <Loaded of={overview}>
        {(shown) =>
          shown.state === "running" ? (
            <Running agent={shown} adopt={(device) => (adopting.value = device)} />
          ) : (
            <>
              <h1>{t("devices")}</h1>
              <Empty title={t("notSetUp")}>
                {t("notSetUpNext")}
                <br />
                <a class="button primary first-step" href="/setup">
                  {t("setUp")}
                </a>
              </Empty>
            </>
          )
        }
      </Loaded>
    </>
  );
}

function Running({ agent, adopt }: { agent: LocalRunning; adopt: (device: string) => void }) {
  const { devices } = agent;
  const faulty = faultyDevices(devices);
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t("devices")}</h1>
          {devices.length > 0 && (
            <p>
              {t("count", { count: devices.length })}
              {faulty > 0 && <strong class="devices-faulty"> {t("faulty", { count: faulty })}</strong>}
            </p>
          )}
        </div>
        <a class="button" href="/setup">
          {t("add")}
        </a>
      </div>
      <div class="split">
        <div>
          <Needs agent={agent} />
          {devices.length === 0 && <Empty title={t("none")}>{t("noneNext")}</Empty>}
          <div class="tiles">
            {byNeed(devices).map((device) => (
              <Device key={device.id} device={device} adopt={() => adopt(device.id)} />
            ))}
          </div>
        </div>
        <aside>
          <ThisPc agent={agent} />
        </aside>
      </div>
    </>
  );
}

/** Lists all that needs a person and belongs to no device. */
function Needs({ agent }: { agent: LocalRunning }) {
  const { server, outbox, ready, devices, quarantined, clock_offset_s } = agent;
  const isReached = server.state === "reached" || server.state === "not asked yet";
  const general = [...ready.problems, ...ready.warnings].filter(
    ({ what }) => what !== "server" && devices.every(({ id }) => id !== what),
  );
  const seconds = Math.abs(clock_offset_s ?? 0);
  const toPlace = devices.reduce((sum, { today }) => sum + today.unmatched, 0);
  const isClockOff = seconds >= CLOCK_S;
  if (isReached && general.length === 0 && quarantined.count === 0 && toPlace === 0 && !isClockOff) return null;
  return (
    <NeedList>
      <ul aria-label={t("needs")}>
        {!isReached && (
          <Need
            icon="bad"
            tone="warn"
            what={<strong>{t("serverIs", { state: serverWord(server.state) })}</strong>}
            why={waitingText(outbox)}
          >
            <a class="button" href="/outbox">
              {t("toOutbox")}
            </a>
          </Need>
        )}
        {quarantined.count > 0 && (
          <Need
            icon="file"
            tone="warn"
            what={<a href="/messages?state=quarantined">{t("held", { count: quarantined.count })}</a>}
            why={quarantined.last_at !== null && t("heldSince", { when: ago(quarantined.last_at) })}
          />
        )}
        {isClockOff && (
          <Need
            icon="wait"
            tone="warn"
            what={t((clock_offset_s ?? 0) > 0 ? "clockAhead" : "clockBehind", { seconds })}
          />
        )}
        {general.map(({ what, reason }) => (
          <Need
            key={what}
            icon="bad"
            tone="warn"
            what={
              <span lang="en">
                {what}: {reason}
              </span>
            }
          />
        ))}
        {toPlace > 0 && (
          <Need
            icon="move"
            tone="info"
            what={<a href="/messages?state=unmatched">{t("toPlace", { count: toPlace })}</a>}
            why={t("toPlaceNext")}
          />
        )}
      </ul>
    </NeedList>
  );
}

function waitingText({ depth, oldest_at }: LocalRunning["outbox"]): string {
  return oldest_at === null ? t("allSent") : t("waiting", { count: depth, since: ago(oldest_at) });
}

/** The server, the queue and the version. */
function ThisPc({ agent }: { agent: LocalRunning }) {
  const { server, outbox } = agent;
  return (
    <section class="card" aria-labelledby="this-pc">
      <h2 id="this-pc">{t("thisPc")}</h2>
      <Facts
        inColumn
        of={[
          [t("server"), server.url],
          [t("state"), serverWord(server.state)],
          [t("outbox"), waitingText(outbox)],
        ]}
      />
      <Version agent={agent} />
    </section>
  );
}

/** The version, with an upgrade that is under way or failed. */
function Version({ agent: { version, upgrade } }: { agent: LocalRunning }) {
  const of = upgrade === null ? undefined : UPGRADE_STATES.find((word) => word === upgrade.state);
  return (
    <p class="quiet">
      {t("version", { version })}
      {upgrade !== null && of !== undefined && ` ${t(`upgrade ${of}`, { to: upgrade.to })}`}
      {upgrade !== null && upgrade.reason !== null && <span lang="en"> {upgrade.reason}</span>}
    </p>
  );
}

const UPGRADE_STATES = ["preparing", "trying", "rolled back", "refused"] as const;
