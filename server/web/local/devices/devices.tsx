import type { LocalDevice, LocalOverview, LocalRunning } from "../../../../shared/local/overview.ts";
import { Empty, Loaded, useLocal } from "../../resource.tsx";
import { ago, texts } from "../../text.ts";

/** The agent, and a card for each device that says in words what is wrong and what to do. */
export function Devices() {
  const overview = useLocal<LocalOverview>("/overview");
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

function Running({ agent: { server, outbox, ready, devices } }: { agent: LocalRunning }) {
  const general = [...ready.problems, ...ready.warnings].filter(({ what }) => devices.every(({ id }) => id !== what));
  return (
    <>
      <section class="card">
        <p>
          {t("server")}: {server.url}, {server.state}
        </p>
        <p>
          {outbox.oldest_at === null
            ? t("allSent")
            : t("waiting", { count: outbox.depth, since: ago(outbox.oldest_at) })}
        </p>
        {general.map(({ what, reason }) => (
          <p key={what}>
            {what}: {reason}
          </p>
        ))}
      </section>
      {devices.length === 0 && <Empty title={t("none")}>{t("noneNext")}</Empty>}
      {devices.map((device) => (
        <Device key={device.id} device={device} />
      ))}
    </>
  );
}

function Device({ device: { id, profile, line, state, reason, last_message_at } }: { device: LocalDevice }) {
  return (
    <section class="card">
      <h2>{id}</h2>
      <p class="quiet">
        {profile}, {line}
      </p>
      <p>{reason === null ? state : `${state}: ${reason}`}</p>
      <p>{last_message_at === null ? t("neverHeard") : t("lastMessage", { when: ago(last_message_at) })}</p>
    </section>
  );
}

const t = texts(
  {
    devices: "Devices",
    notSetUp: "This agent is not set up",
    setUp: "Set it up",
    server: "Server",
    allSent: "Every result is sent.",
    waiting: "{count} to send, the oldest {since}",
    none: "No device yet",
    noneNext: "Add the first device.",
    neverHeard: "No message yet",
    lastMessage: "Last message {when}",
  },
  {
    devices: "Cihazlar",
    notSetUp: "Bu aracı henüz kurulmadı",
    setUp: "Kurun",
    server: "Sunucu",
    allSent: "Tüm sonuçlar gönderildi.",
    waiting: "{count} sonuç gönderilecek, en eskisi {since}",
    none: "Henüz cihaz yok",
    noneNext: "İlk cihazı ekleyin.",
    neverHeard: "Henüz ileti yok",
    lastMessage: "Son ileti {when}",
  },
);
