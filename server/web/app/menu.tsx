import { useLocation } from "preact-iso";
import { chooseClinic, clinic, may, session, signOut } from "../session.ts";
import { texts } from "../text.ts";
import { PageChoices } from "../ui/page-choices.tsx";

/** The header of every screen: screens, clinic, language, theme and sign-out. */
export function Menu() {
  const { path } = useLocation();
  const state = session.value;
  if (state?.state !== "signed in") return null;
  const shown = screens.filter(({ role }) => may(role ?? "reader"));
  return (
    <header class="menu">
      <a class="brand" href="/dashboard">
        Vetwire
      </a>
      <nav aria-label={t("screens")}>
        <ul>
          {shown.map(({ href, name }) => (
            <li key={href}>
              <a href={href} aria-current={isAt(path, href) ? "page" : undefined}>
                {t(name)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="menu-end">
        {state.clinics.length > 1 && (
          <select
            aria-label={t("clinic")}
            value={clinic.value?.fp}
            onChange={({ currentTarget }) => chooseClinic(currentTarget.value)}
          >
            {state.clinics.map(({ fp, name }) => (
              <option key={fp} value={fp}>
                {name}
              </option>
            ))}
          </select>
        )}
        <PageChoices />
        <a href="/dashboard/account">{state.user.name}</a>
        <button type="button" onClick={() => void signOut()}>
          {t("signOut")}
        </button>
      </div>
    </header>
  );
}

/** The screens in the order of the menu, and the role that a screen needs. */
const screens: readonly { href: string; name: ScreenName; role?: "staff" | "admin" }[] = [
  { href: "/dashboard", name: "today" },
  { href: "/dashboard/results", name: "results" },
  { href: "/dashboard/patients", name: "patients" },
  { href: "/dashboard/to-place", name: "toPlace" },
  { href: "/dashboard/manual-study", name: "manualStudy", role: "staff" },
  { href: "/dashboard/records", name: "records" },
  { href: "/dashboard/calendar", name: "calendar" },
  { href: "/dashboard/stock", name: "stock" },
  { href: "/dashboard/devices", name: "devices" },
  { href: "/dashboard/settings", name: "settings" },
  { href: "/dashboard/help", name: "help" },
];

type ScreenName =
  | ("today" | "results" | "patients" | "toPlace" | "manualStudy" | "records" | "calendar" | "stock")
  | ("devices" | "settings" | "help");

function isAt(path: string, href: string): boolean {
  return path === href || (href !== "/dashboard" && path.startsWith(`${href}/`));
}

const t = texts(
  {
    screens: "Screens",
    today: "Today",
    results: "Results",
    patients: "Patients",
    toPlace: "To place",
    manualStudy: "Manual study",
    records: "Records",
    calendar: "Calendar",
    stock: "Stock",
    devices: "Devices",
    settings: "Settings",
    help: "Help",
    clinic: "Clinic",
    signOut: "Sign out",
  },
  {
    screens: "Ekranlar",
    today: "Bugün",
    results: "Sonuçlar",
    patients: "Hastalar",
    toPlace: "Yerleştirilecek",
    manualStudy: "Elle giriş",
    records: "Kayıtlar",
    calendar: "Takvim",
    stock: "Stok",
    devices: "Cihazlar",
    settings: "Ayarlar",
    help: "Yardım",
    clinic: "Klinik",
    signOut: "Çıkış",
  },
);
