import { ErrorBoundary, LocationProvider, Route, Router } from "preact-iso";
import { isOffline, isSignedOut } from "../../../../server/web/api.ts";
import { isLiveLost } from "../../../../server/web/live.ts";
import { Empty, useLocal } from "../../../../server/web/resource.tsx";
import { language, translations } from "../../../../server/web/text.ts";
import { Header, type HeaderScreen } from "../../../../server/web/ui/header/header.tsx";
import { State } from "../../../../server/web/ui/status/status-card.tsx";
import type { LocalOverview, LocalRunning } from "../../types/overview.ts";
import { faultyDevices } from "../devices/device-words.ts";
import { serverWord } from "../devices/server-word.ts";
import "./app.css";
import { Pin } from "./pin.tsx";
import { screens } from "./screens.ts";

// The frame of the agent's own page: the menu, a banner, and one screen. Each screen is loaded when it is first shown.

export function LocalApp() {
  if (isSignedOut.value) return <Pin key={language.value} />;
  // Screens read texts when they are drawn, so another language draws all of them again.
  return (
    <LocationProvider key={language.value}>
      {(isOffline.value || isLiveLost.value) && (
        <p class="banner" role="status">
          {t("offline")}
        </p>
      )}
      <div class="frame">
        <Menu />
        <main id="main" tabIndex={-1}>
          <ErrorBoundary>
            <Router>
              {screens.map(({ path, Screen }) => (
                <Route key={path} path={path} component={Screen} />
              ))}
              <Route default component={Nowhere} />
            </Router>
          </ErrorBoundary>
        </main>
      </div>
    </LocationProvider>
  );
}

/** The row above every screen, with what needs a person: devices, held messages, and results that the server does not take. */
function Menu() {
  const { data } = useLocal<LocalOverview>("/overview");
  const agent = data?.state === "running" ? data : null;
  const counts = agent === null ? null : countsOf(agent);
  const shown = screens.flatMap(({ path, name }): HeaderScreen[] =>
    name === null ? [] : [{ href: path, name: t(name), count: counts?.[name] }],
  );
  return (
    <Header
      home="/"
      brand={t("brand")}
      screens={shown}
      tools={agent !== null && <ServerState state={agent.server.state} />}
    />
  );
}

function countsOf({
  devices,
  quarantined,
  outbox,
  server,
}: LocalRunning): Partial<Record<string, HeaderScreen["count"]>> {
  const faulty = faultyDevices(devices);
  return {
    devices: { of: faulty, words: t("needYou", { count: faulty }), isFault: true },
    messages: { of: quarantined.count, words: t("notReadable") },
    outbox: { of: server.state === "reached" ? 0 : outbox.depth, words: t("waiting") },
  };
}

function ServerState({ state }: { state: string }) {
  const tone = state === "reached" ? "good" : state === "not asked yet" ? "plain" : "bad";
  return (
    <span class="server-state" title={t("serverIs", { state: serverWord(state) })}>
      <State tone={tone}>
        <span class="server-word">{t("serverIs", { state: serverWord(state) })}</span>
      </State>
    </span>
  );
}

function Nowhere() {
  return (
    <Empty title={t("nowhere")}>
      <a href="/">{t("home")}</a>
    </Empty>
  );
}

const t = translations({
  brand: ["Vetwire agent", "Vetwire aracısı"],
  serverIs: ["Server {state}", "Sunucu: {state}"],
  needYou: ["{count|needs|need} you", "sizi bekliyor"],
  notReadable: ["not readable", "okunamadı"],
  waiting: ["waiting", "bekliyor"],
  devices: ["Devices", "Cihazlar"],
  messages: ["Messages", "İletiler"],
  images: ["Images", "Görüntüler"],
  configuration: ["Configuration", "Yapılandırma"],
  outbox: ["To send", "Gönderilecek"],
  codes: ["Unknown codes", "Bilinmeyen kodlar"],
  maker: ["New profile", "Yeni profil"],
  log: ["Log", "Günlük"],
  doctor: ["Doctor", "Denetim"],
  nowhere: ["There is no such page", "Böyle bir sayfa yok"],
  home: ["Go to the devices", "Cihazlara git"],
  offline: [
    "The agent does not answer. This page shows what it knew last and tries again.",
    "Aracı yanıt vermiyor. Bu sayfa son bildiğini gösteriyor ve yeniden deniyor.",
  ],
});
