import { chooseClinic, clinic, may, session, signOut } from "../session.ts";
import { texts } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { Header } from "../ui/header/header.tsx";

/** The header of every screen. The menu of the user has the clinic, the account and the sign-out. */
export function Menu() {
  const state = session.value;
  if (state?.state !== "signed in") return null;
  const shown = screens.filter(({ role }) => may(role ?? "reader")).map(({ href, name }) => ({ href, name: t(name) }));
  return (
    <Header home="/dashboard" screens={shown} user={state.user.name}>
      {state.clinics.length > 1 && (
        <Field label={t("clinic")}>
          <select value={clinic.value?.fp} onChange={({ currentTarget }) => chooseClinic(currentTarget.value)}>
            {state.clinics.map(({ fp, name }) => (
              <option key={fp} value={fp}>
                {name}
              </option>
            ))}
          </select>
        </Field>
      )}
      <a href="/dashboard/account">{t("account")}</a>
      <button type="button" onClick={() => void signOut()}>
        {t("signOut")}
      </button>
    </Header>
  );
}

/** The screens in the order of the menu, and the role that a screen needs. */
const screens: readonly { href: string; name: ScreenName; role?: "staff" | "admin" }[] = [
  { href: "/dashboard", name: "today" },
  { href: "/dashboard/results", name: "results" },
  { href: "/dashboard/patients", name: "patients" },
  { href: "/dashboard/to-place", name: "toPlace" },
  { href: "/dashboard/orders", name: "orders" },
  { href: "/dashboard/manual-study", name: "manualStudy", role: "staff" },
  { href: "/dashboard/records", name: "records" },
  { href: "/dashboard/calendar", name: "calendar" },
  { href: "/dashboard/stock", name: "stock" },
  { href: "/dashboard/devices", name: "devices" },
  { href: "/dashboard/settings", name: "settings" },
  { href: "/dashboard/help", name: "help" },
];

type ScreenName =
  | ("today" | "results" | "patients" | "toPlace" | "orders" | "manualStudy" | "records" | "calendar" | "stock")
  | ("devices" | "settings" | "help");

const t = texts(
  {
    today: "Today",
    results: "Results",
    patients: "Patients",
    toPlace: "To place",
    orders: "Orders",
    manualStudy: "Manual study",
    records: "Records",
    calendar: "Calendar",
    stock: "Stock",
    devices: "Devices",
    settings: "Settings",
    help: "Help",
    clinic: "Clinic",
    account: "Your account",
    signOut: "Sign out",
  },
  {
    today: "Bugün",
    results: "Sonuçlar",
    patients: "Hastalar",
    toPlace: "Yerleştirilecek",
    orders: "İstemler",
    manualStudy: "Elle giriş",
    records: "Kayıtlar",
    calendar: "Takvim",
    stock: "Stok",
    devices: "Cihazlar",
    settings: "Ayarlar",
    help: "Yardım",
    clinic: "Klinik",
    account: "Hesabınız",
    signOut: "Çıkış",
  },
);
