import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from "preact-iso";
import { isOffline, isSignedOut } from "../../../../server/web/api.ts";
import { isLiveLost } from "../../../../server/web/live.ts";
import { Empty } from "../../../../server/web/resource.tsx";
import { language, texts } from "../../../../server/web/text.ts";
import { PageChoices } from "../../../../server/web/ui/page-choices.tsx";
import { Pin } from "./pin.tsx";
import { screens } from "./screens.ts";

// The frame of the agent's own page: the menu, a banner, and one screen. Each screen is loaded when it is first shown.

export function LocalApp() {
  if (isSignedOut.value) return <Pin key={language.value} />;
  // Screens read texts when they are drawn, so another language draws all of them again.
  return (
    <LocationProvider key={language.value}>
      {(isOffline.value || isLiveLost.value) && (
        <p class="banner banner-offline" role="status">
          {t("offline")}
        </p>
      )}
      <div class="frame">
        <a class="skip" href="#main">
          {t("skip")}
        </a>
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

function Menu() {
  const { path: shown } = useLocation();
  return (
    <header class="menu">
      <a class="brand" href="/">
        Vetwire
      </a>
      <nav aria-label={t("screens")}>
        <ul>
          {screens.map(
            ({ path, name }) =>
              name !== null && (
                <li key={path}>
                  <a href={path} aria-current={shown === path ? "page" : undefined}>
                    {t(name)}
                  </a>
                </li>
              ),
          )}
        </ul>
      </nav>
      <div class="menu-end">
        <PageChoices />
      </div>
    </header>
  );
}

function Nowhere() {
  return (
    <Empty title={t("nowhere")}>
      <a href="/">{t("home")}</a>
    </Empty>
  );
}

const t = texts(
  {
    screens: "Screens",
    skip: "Skip to the content",
    devices: "Devices",
    messages: "Messages",
    images: "Images",
    configuration: "Configuration",
    outbox: "To send",
    codes: "Unknown codes",
    log: "Log",
    doctor: "Doctor",
    nowhere: "There is no such page",
    home: "Go to the devices",
    offline: "The agent does not answer. This page shows what it knew last and tries again.",
  },
  {
    screens: "Ekranlar",
    skip: "İçeriğe geç",
    devices: "Cihazlar",
    messages: "İletiler",
    images: "Görüntüler",
    configuration: "Yapılandırma",
    outbox: "Gönderilecek",
    codes: "Bilinmeyen kodlar",
    log: "Günlük",
    doctor: "Denetim",
    nowhere: "Böyle bir sayfa yok",
    home: "Cihazlara git",
    offline: "Aracı yanıt vermiyor. Bu sayfa son bildiğini gösteriyor ve yeniden deniyor.",
  },
);
