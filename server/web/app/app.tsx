import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ErrorBoundary, lazy, LocationProvider, Route, Router, useLocation } from "preact-iso";
import { isOffline } from "../api.ts";
import { isLiveLost } from "../live.ts";
import { Menu } from "./menu.tsx";
import { Empty } from "../resource.tsx";
import { clinic, refreshSession, session } from "../session.ts";
import { language, texts } from "../text.ts";

// The frame of the dashboard: who may see which screen, the menu, and banners. Each screen is loaded when it is first shown.

const SignIn = lazy(async () => (await import("../screens/sign-in/sign-in.tsx")).SignIn);
const Today = lazy(async () => (await import("../screens/today/today.tsx")).Today);
const Patients = lazy(async () => (await import("../screens/patients/patients.tsx")).Patients);
const PatientPage = lazy(async () => (await import("../screens/patients/patient.tsx")).PatientPage);
const AnalyteTrend = lazy(async () => (await import("../screens/patients/trend.tsx")).AnalyteTrend);
const Account = lazy(async () => (await import("../screens/account/account.tsx")).Account);
const Users = lazy(async () => (await import("../screens/settings/users/users.tsx")).Users);
const ClinicSettings = lazy(async () => (await import("../screens/settings/clinic/clinic.tsx")).ClinicSettings);
const Results = lazy(async () => (await import("../screens/results/results.tsx")).Results);
const Study = lazy(async () => (await import("../screens/results/study.tsx")).Study);
const SettingsHome = lazy(async () => (await import("../screens/settings/frame.tsx")).SettingsHome);
const Keys = lazy(async () => (await import("../screens/settings/keys/keys.tsx")).Keys);
const Codes = lazy(async () => (await import("../screens/to-place/codes.tsx")).Codes);
const ToPlace = lazy(async () => (await import("../screens/to-place/to-place.tsx")).ToPlace);
const Ranges = lazy(async () => (await import("../screens/settings/ranges/ranges.tsx")).Ranges);
const Audit = lazy(async () => (await import("../screens/settings/audit/audit.tsx")).Audit);
const Records = lazy(async () => (await import("../screens/records/records.tsx")).Records);
const RecordScreen = lazy(async () => (await import("../screens/records/record.tsx")).RecordScreen);
const Calendar = lazy(async () => (await import("../screens/calendar/calendar.tsx")).Calendar);
const Stock = lazy(async () => (await import("../screens/stock/stock.tsx")).Stock);
const StockItem = lazy(async () => (await import("../screens/stock/item.tsx")).StockItem);
const Devices = lazy(async () => (await import("../screens/devices/devices.tsx")).Devices);
const ManualStudy = lazy(async () => (await import("../screens/manual-study/manual-study.tsx")).ManualStudy);
const Help = lazy(async () => (await import("../screens/help/help.tsx")).Help);

export function App() {
  useEffect(() => void refreshSession().catch(() => undefined), []);
  const state = session.value;
  // Screens read texts when they are drawn, so another language draws all of them anew.
  return (
    <LocationProvider scope="/dashboard" key={language.value}>
      <Banners />
      <ErrorBoundary>
        {state === undefined ? null : state.state !== "signed in" ? <SignIn state={state} /> : <SignedIn />}
      </ErrorBoundary>
    </LocationProvider>
  );
}

function SignedIn() {
  const { path } = useLocation();
  useEffect(() => {
    document.getElementById("main")?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path]);
  return (
    <div class="frame">
      <a class="skip" href="#main">
        {t("skip")}
      </a>
      <Menu />
      <main id="main" tabIndex={-1}>
        {clinic.value === undefined && path !== "/dashboard/account" ? (
          <Empty title={t("noClinic")}>{t("noClinicNext")}</Empty>
        ) : (
          // A screen keeps no data of another clinic.
          <Router key={clinic.value?.fp}>
            <Route path="/dashboard" component={Today} />
            <Route path="/dashboard/patients" component={Patients} />
            <Route path="/dashboard/patients/:fp" component={PatientPage} />
            <Route path="/dashboard/patients/:fp/:analyte" component={AnalyteTrend} />
            <Route path="/dashboard/results" component={Results} />
            <Route path="/dashboard/results/:fp" component={Study} />
            <Route path="/dashboard/settings" component={SettingsHome} />
            <Route path="/dashboard/settings/keys" component={Keys} />
            <Route path="/dashboard/settings/users" component={Users} />
            <Route path="/dashboard/settings/clinic" component={ClinicSettings} />
            <Route path="/dashboard/account" component={Account} />
            <Route path="/dashboard/to-place/codes" component={Codes} />
            <Route path="/dashboard/to-place/:fp?" component={ToPlace} />
            <Route path="/dashboard/settings/ranges" component={Ranges} />
            <Route path="/dashboard/settings/audit" component={Audit} />
            <Route path="/dashboard/records" component={Records} />
            <Route path="/dashboard/records/:fp" component={RecordScreen} />
            <Route path="/dashboard/calendar" component={Calendar} />
            <Route path="/dashboard/stock" component={Stock} />
            <Route path="/dashboard/stock/:fp" component={StockItem} />
            <Route path="/dashboard/devices" component={Devices} />
            <Route path="/dashboard/manual-study" component={ManualStudy} />
            <Route path="/dashboard/help/:page?" component={Help} />
            <Route default component={Nowhere} />
          </Router>
        )}
      </main>
    </div>
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
  return (
    <>
      {isPlain && <Banner kind="warning">{t("unencrypted")}</Banner>}
      {(isOffline.value || isLiveLost.value) && <Banner kind="offline">{t("offline")}</Banner>}
    </>
  );
}

function Banner({ kind, children }: { kind: "warning" | "offline"; children: ComponentChildren }) {
  return (
    <p class={`banner banner-${kind}`} role="status">
      {children}
    </p>
  );
}

const t = texts(
  {
    skip: "Skip to the content",
    noClinic: "You belong to no clinic",
    noClinicNext: "An admin of a clinic can add you under Settings, Users.",
    nowhere: "There is no such page",
    home: "Go to Today",
    unencrypted: "This connection is not encrypted: others in the network can read passwords and results.",
    offline: "The server does not answer. This page shows what it knew last and tries again.",
  },
  {
    skip: "İçeriğe geç",
    noClinic: "Hiçbir kliniğe bağlı değilsiniz",
    noClinicNext: "Bir klinik yöneticisi sizi Ayarlar, Kullanıcılar altında ekleyebilir.",
    nowhere: "Böyle bir sayfa yok",
    home: "Bugün sayfasına git",
    unencrypted: "Bu bağlantı şifreli değil: ağdaki başkaları parolaları ve sonuçları okuyabilir.",
    offline: "Sunucu yanıt vermiyor. Bu sayfa son bildiğini gösteriyor ve yeniden deniyor.",
  },
);
