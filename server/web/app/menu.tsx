import { chooseClinic, clinic, may, session, signOut } from "../session.ts";
import { translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { Header } from "../ui/header/header.tsx";
import { UserUnits } from "./user-units.tsx";

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
      <UserUnits />
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

const t = translations({
  today: ["Today", "Bugün"],
  results: ["Results", "Sonuçlar"],
  patients: ["Patients", "Hastalar"],
  toPlace: ["To place", "Yerleştirilecek"],
  orders: ["Orders", "İstemler"],
  manualStudy: ["Manual study", "Elle giriş"],
  records: ["Records", "Kayıtlar"],
  calendar: ["Calendar", "Takvim"],
  stock: ["Stock", "Stok"],
  devices: ["Devices", "Cihazlar"],
  settings: ["Settings", "Ayarlar"],
  help: ["Help", "Yardım"],
  clinic: ["Clinic", "Klinik"],
  account: ["Your account", "Hesabınız"],
  signOut: ["Sign out", "Çıkış"],
});
