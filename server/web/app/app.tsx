import { useEffect } from "preact/hooks";
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from "preact-iso";
import { isOffline, otherUser, type RequestError } from "../api.ts";
import { RETURN_PATHS } from "../../dashboard/types/settings/session.ts";
import { lazy } from "../lazy.tsx";
import { isLiveLost, RETRY_MS } from "../live.ts";
import { Banner } from "./banner.tsx";
import { Menu } from "./menu.tsx";
import { OperatorNotice } from "./operator-notice.tsx";
import { userUnits } from "./user-units.tsx";
import { usePageTitle } from "./page-title.ts";
import { useScreenStart } from "./screen-start.ts";
import { screens } from "./screens.ts";
import { Empty, Problem } from "../resource.tsx";
import { clinic, refreshSession, session } from "../session.ts";
import { dateTime, language, translations } from "../text.ts";
import { useAction } from "../ui/form/use-action.ts";

// The frame of the dashboard: the screens that the user may see, the menu and the banners.

const SignIn = lazy(async () => (await import("../screens/account/sign-in.tsx")).SignIn);

/** Ends a sign-in that began at a provider, whoever is signed in in this browser. */
const OidcReturn = lazy(async () => (await import("../screens/account/oidc-return.tsx")).OidcReturn);

export function App() {
  usePageTitle();
  const start = useAction();
  useEffect(() => void start.run(refreshSession), []);
  const state = session.value;
  // Screens read texts while they are drawn, so a change of the language draws all of them again.
  return (
    <LocationProvider scope="/dashboard" key={language.value}>
      <Banners />
      <ErrorBoundary>
        {location.pathname === RETURN_PATHS.clinic ? (
          <OidcReturn home="/dashboard" />
        ) : otherUser.value !== null ? (
          <OtherUser />
        ) : state === undefined ? (
          start.error !== undefined && <NotStarted error={start.error} retry={start.retry} />
        ) : state.state !== "signed in" ? (
          <SignIn state={state} />
        ) : (
          <SignedIn />
        )}
      </ErrorBoundary>
    </LocationProvider>
  );
}

function SignedIn() {
  const { path } = useLocation();
  useScreenStart(path);
  return (
    <div class="frame">
      <Menu />
      <main id="main" tabIndex={-1}>
        {clinic.value === undefined && path !== "/dashboard/account" ? (
          <Empty title={t("noClinic")}>{t("noClinicNext")}</Empty>
        ) : (
          // A key of the clinic and the units: without it a screen would keep its state, which holds what was shown before.
          <Router key={`${clinic.value?.fp} ${userUnits.value}`}>
            {screens.map(({ path: each, Screen }) => (
              <Route key={each} path={each} component={Screen} />
            ))}
            <Route default component={Nowhere} />
          </Router>
        )}
      </main>
    </div>
  );
}

/** Shown until the session is known: the page has no data before. */
function NotStarted({ error, retry }: { error: RequestError; retry: () => Promise<unknown> }) {
  useEffect(() => {
    const timer = setTimeout(() => void retry(), RETRY_MS);
    return () => clearTimeout(timer);
  }, [error]);
  return (
    <main class="alone">
      <h1>Vetwire</h1>
      <Problem error={error} retry={retry} />
    </main>
  );
}

/** Replaces the page, because its texts and half-filled forms belong to the earlier user. */
function OtherUser() {
  return (
    <main class="alone">
      <Empty title={t("otherUser")}>
        <button type="button" class="primary" onClick={() => location.reload()}>
          {t("loadAgain")}
        </button>
      </Empty>
    </main>
  );
}

function Nowhere() {
  return (
    <Empty title={t("nowhere")}>
      <a href="/dashboard">{t("home")}</a>
    </Empty>
  );
}

function Banners() {
  const isPlain = location.protocol === "http:" && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);
  const knownAt = session.value?.state === "signed in" ? session.value.user.password_known_at : null;
  return (
    <>
      {knownAt !== null && <Banner>{t("passwordKnown", { time: dateTime(knownAt) })}</Banner>}
      {isPlain && <Banner>{t("unencrypted")}</Banner>}
      <OperatorNotice />
      {(isOffline.value || isLiveLost.value) && <Banner>{t("offline")}</Banner>}
    </>
  );
}

const t = translations({
  noClinic: ["You belong to no clinic", "Hiçbir kliniğe bağlı değilsiniz"],
  noClinicNext: [
    "An admin of a clinic can add you under Settings, Users.",
    "Bir klinik yöneticisi sizi Ayarlar, Kullanıcılar altında ekleyebilir.",
  ],
  otherUser: [
    "Somebody else signed in with this browser. Nothing was written under that name.",
    "Bu tarayıcıda başka biri oturum açtı. Onun adına hiçbir şey yazılmadı.",
  ],
  loadAgain: ["Go on with the new sign-in", "Yeni oturumla devam et"],
  nowhere: ["There is no such page", "Böyle bir sayfa yok"],
  home: ["Go to Today", "Bugün sayfasına git"],
  passwordKnown: [
    "Somebody else knows your password: on {time}, ten wrong codes followed it. Click your name and change the password.",
    "Parolanızı başka biri biliyor: {time}, parolanın ardından on yanlış kod girildi. Adınıza tıklayıp parolayı değiştirin.",
  ],
  unencrypted: [
    "This connection is not encrypted: others in the network can read passwords and results.",
    "Bu bağlantı şifreli değil: ağdaki başkaları parolaları ve sonuçları okuyabilir.",
  ],
  offline: [
    "The server does not answer. This page shows what it knew last and tries again.",
    "Sunucu yanıt vermiyor. Bu sayfa son bildiğini gösteriyor ve yeniden deniyor.",
  ],
});
