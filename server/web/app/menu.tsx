import { useEffect } from "preact/hooks";
import type { MenuCounts, MenuNews } from "../../dashboard/types/results/today.ts";
import { useResource } from "../resource.tsx";
import { useInterval } from "../use-interval.ts";
import { chooseClinic, clinic, may, session, signOut } from "../session.ts";
import { translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { Header, type HeaderScreen } from "../ui/header/header.tsx";
import { Icon } from "../ui/status/icon.tsx";
import { operatorNotice } from "./operator-notice.tsx";
import { FindPatient } from "./find-patient.tsx";
import { UserUnits } from "./user-units.tsx";

/** Interval of reloads: an order that nobody ran and a device that becomes silent change no data. */
const REFRESH_MS = 60_000;

/** The header of every screen. The menu of the user has the clinic, the account and the sign-out. */
export function Menu() {
  const state = session.value;
  const counts = useResource<MenuNews>(clinic.value === undefined ? null : "/menu");
  useInterval(counts.reload, REFRESH_MS, true, clinic.value?.fp);
  const notice = counts.data?.notice ?? null;
  useEffect(() => {
    operatorNotice.value = notice;
    return () => {
      operatorNotice.value = null;
    };
  }, [notice?.id]);
  if (state?.state !== "signed in") return null;
  const shown = screens
    .filter(({ role }) => may(role ?? "reader"))
    .map(({ name, ...entry }): HeaderScreen => ({ ...entry, name: t(name), ...countOf(name, counts.data) }));
  const tools = clinic.value !== undefined && (
    <>
      <FindPatient />
      {may("staff") && <NewMenu />}
    </>
  );
  return (
    <Header home="/dashboard" screens={shown} tools={tools} user={state.user.name} place={clinic.value?.name}>
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

function countOf(name: ScreenName, counts: MenuCounts | undefined): Pick<HeaderScreen, "count"> {
  if (counts === undefined) return {};
  if (name === "toPlace") return { count: { of: counts.to_place, words: t("waiting") } };
  if (name === "orders") return { count: { of: counts.not_run, words: t("notRun") } };
  if (name === "devices") return { count: { of: counts.devices, words: t("needYou"), isFault: true } };
  return {};
}

/** The tasks that a person starts from any screen. */
function NewMenu() {
  return (
    <>
      <button type="button" class="top-new" popovertarget="new-menu" aria-label={t("new")}>
        <Icon of="add" /> <span>{t("new")}</span>
      </button>
      <div class="pop" id="new-menu" popover="auto">
        <a href="/dashboard/patients/new">{t("newAnimal")}</a>
        <a href="/dashboard/orders?new">{t("orderTests")}</a>
        <a href="/dashboard/manual-study">{t("manualStudy")}</a>
        <a href="/dashboard/patients/import">{t("importList")}</a>
      </div>
    </>
  );
}

/** The screens in the order of the menu, and the role that a screen needs. */
const screens: readonly (Omit<HeaderScreen, "name"> & { name: ScreenName; role?: "staff" | "admin" })[] = [
  { href: "/dashboard", name: "today" },
  { href: "/dashboard/to-place", name: "toPlace" },
  { href: "/dashboard/results", name: "results" },
  { href: "/dashboard/patients", name: "patients" },
  { href: "/dashboard/orders", name: "orders" },
  { href: "/dashboard/calendar", name: "calendar" },
  { href: "/dashboard/devices", name: "devices" },
  { href: "/dashboard/manual-study", name: "manualStudy", role: "staff", at: "fold" },
  { href: "/dashboard/records", name: "records", at: "more" },
  { href: "/dashboard/stock", name: "stock", at: "more" },
  { href: "/dashboard/quality", name: "quality", at: "more" },
  { href: "/dashboard/settings", name: "settings", at: "more" },
  { href: "/dashboard/help", name: "help", at: "more" },
];

type ScreenName =
  | ("today" | "results" | "patients" | "toPlace" | "orders" | "manualStudy" | "records" | "calendar" | "stock")
  | ("quality" | "devices" | "settings" | "help");

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
  quality: ["Quality control", "Kalite kontrol"],
  devices: ["Devices", "Cihazlar"],
  settings: ["Settings", "Ayarlar"],
  help: ["Help", "Yardım"],
  clinic: ["Clinic", "Klinik"],
  account: ["Your account", "Hesabınız"],
  new: ["New", "Yeni"],
  newAnimal: ["New animal", "Yeni hasta"],
  orderTests: ["Order tests", "Test iste"],
  importList: ["Import a list", "Liste aktar"],
  waiting: ["waiting", "bekliyor"],
  notRun: ["not run", "çalışılmadı"],
  needYou: ["need you", "ilgi bekliyor"],
  signOut: ["Sign out", "Çıkış"],
});
