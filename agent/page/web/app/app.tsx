import { ErrorBoundary, LocationProvider, Route, Router } from "preact-iso";
import { isOffline, isSignedOut } from "../../../../server/web/api.ts";
import { isLiveLost } from "../../../../server/web/live.ts";
import { Empty } from "../../../../server/web/resource.tsx";
import { language, translations } from "../../../../server/web/text.ts";
import { Header } from "../../../../server/web/ui/header/header.tsx";
import { Pin } from "./pin.tsx";
import { screens } from "./screens.ts";

// The frame of the agent's own page: the menu, a banner, and one screen. Each screen is loaded when it is first shown.

export function LocalApp() {
  if (isSignedOut.value) return <Pin key={language.value} />;
  const shown = screens.flatMap(({ path, name }) => (name === null ? [] : [{ href: path, name: t(name) }]));
  // Screens read texts when they are drawn, so another language draws all of them again.
  return (
    <LocationProvider key={language.value}>
      {(isOffline.value || isLiveLost.value) && (
        <p class="banner" role="status">
          {t("offline")}
        </p>
      )}
      <div class="frame">
        <Header home="/" screens={shown} />
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

function Nowhere() {
  return (
    <Empty title={t("nowhere")}>
      <a href="/">{t("home")}</a>
    </Empty>
  );
}

const t = translations({
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
