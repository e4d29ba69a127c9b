import { useEffect } from "preact/hooks";
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from "preact-iso";
import { RETURN_PATHS } from "../../dashboard/types/settings/session.ts";
import { usePageTitle } from "../app/page-title.ts";
import { useScreenStart } from "../app/screen-start.ts";
import { lazy } from "../lazy.tsx";
import { Problem } from "../resource.tsx";
import { refreshSession, session, signOut } from "../session.ts";
import { language, translations } from "../text.ts";
import { useAction } from "../ui/form/use-action.ts";
import { Header } from "../ui/header/header.tsx";

// The frame of the operator's console: the sign-in, the header and the screens.

const SignIn = lazy(async () => (await import("../screens/account/sign-in.tsx")).SignIn);
const OidcReturn = lazy(async () => (await import("../screens/account/oidc-return.tsx")).OidcReturn);
const Account = lazy(async () => (await import("../screens/account/account.tsx")).Account);
const Clinics = lazy(async () => (await import("./clinics.tsx")).Clinics);
const Clinic = lazy(async () => (await import("./clinic.tsx")).Clinic);
const Audit = lazy(async () => (await import("./audit.tsx")).Audit);

export function App() {
  usePageTitle();
  const start = useAction();
  useEffect(() => void start.run(refreshSession), []);
  const state = session.value;
  return (
    <LocationProvider scope="/operator" key={language.value}>
      <ErrorBoundary>
        {location.pathname === RETURN_PATHS.operator ? (
          <OidcReturn home="/operator" />
        ) : state === undefined ? (
          start.error !== undefined && (
            <main class="alone">
              <h1>Vetwire</h1>
              <Problem error={start.error} retry={start.retry} />
            </main>
          )
        ) : state.state === "signed in" ? (
          <SignedIn name={state.user.name} />
        ) : (
          <SignIn state={state} />
        )}
      </ErrorBoundary>
    </LocationProvider>
  );
}

function SignedIn({ name }: { name: string }) {
  const { path } = useLocation();
  useScreenStart(path);
  return (
    <div class="frame">
      <Header
        home="/operator"
        screens={[
          { href: "/operator", name: t("clinics") },
          { href: "/operator/audit", name: t("audit") },
        ]}
        user={name}
        place={t("operator")}
      >
        <a href="/operator/account">{t("account")}</a>
        <button type="button" onClick={() => void signOut()}>
          {t("signOut")}
        </button>
      </Header>
      <main id="main" tabIndex={-1}>
        <Router>
          <Route path="/operator" component={Clinics} />
          <Route path="/operator/audit" component={Audit} />
          <Route path="/operator/account" component={Account} />
          <Route path="/operator/clinics/:fp" component={Clinic} />
        </Router>
      </main>
    </div>
  );
}

const t = translations({
  clinics: ["Clinics", "Klinikler"],
  audit: ["Audit", "Denetim kaydı"],
  operator: ["Operator", "İşletici"],
  account: ["Your account", "Hesabınız"],
  signOut: ["Sign out", "Oturumu kapat"],
});
