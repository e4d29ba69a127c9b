import type { Role } from "../../../dashboard/types/settings/session.ts";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { Empty } from "../../resource.tsx";
import { may } from "../../session.ts";
import { translations } from "../../text.ts";
import "./frame.css";

// The frame of the settings: the menu and the content of the chosen part.

type Part =
  | ("clinic" | "users" | "keys" | "webhooks" | "ranges" | "audit" | "destinations")
  | ("notifications" | "mail" | "network" | "report");

/** The parts in the order of the menu, with the role that each requires. */
const parts: readonly { part: Part; role: Role }[] = [
  { part: "clinic", role: "admin" },
  { part: "report", role: "admin" },
  { part: "users", role: "admin" },
  { part: "keys", role: "admin" },
  { part: "destinations", role: "admin" },
  { part: "webhooks", role: "admin" },
  { part: "ranges", role: "reader" },
  { part: "audit", role: "admin" },
  { part: "notifications", role: "admin" },
  { part: "mail", role: "admin" },
  { part: "network", role: "admin" },
];

/** Shows a part of the settings with its heading and the menu. A role without the right sees the reason instead. */
export function SettingsFrame({ part, children }: { part: Part; children: ComponentChildren }) {
  const isAllowed = parts.some((one) => one.part === part && may(one.role));
  return (
    <div class="settings">
      <nav aria-label={t("settings")} class="side-menu settings-menu no-print">
        <ul class="plain-list">
          {shownParts().map((shown) => (
            <li key={shown}>
              <a href={hrefOf(shown)} aria-current={shown === part ? "page" : undefined}>
                {(shown === "keys" || shown === "webhooks") && <span class="quiet">{t("developer")} </span>}
                {t(shown)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="settings-part">
        <h1>{t(part)}</h1>
        {isAllowed ? children : <Empty title={t("forbidden")}>{t("forbiddenNext")}</Empty>}
      </div>
    </div>
  );
}

/** Redirects to the first part that the role may see. */
export function SettingsHome() {
  const { route } = useLocation();
  const [first] = shownParts();
  useEffect(() => {
    if (first !== undefined) route(hrefOf(first), true);
  }, [first]);
  return null;
}

function shownParts(): Part[] {
  return parts.filter(({ role }) => may(role)).map(({ part }) => part);
}

function hrefOf(part: Part): string {
  return `/dashboard/settings/${part}`;
}

const t = translations({
  settings: ["Settings", "Ayarlar"],
  developer: ["Developer ›", "Geliştirici ›"],
  clinic: ["Clinic", "Klinik"],
  report: ["Report", "Rapor"],
  users: ["Users", "Kullanıcılar"],
  keys: ["API keys", "API anahtarları"],
  destinations: ["Practice software", "Klinik yazılımı"],
  webhooks: ["Webhooks", "Webhook'lar"],
  ranges: ["Reference ranges", "Referans aralıkları"],
  audit: ["Audit", "Denetim kaydı"],
  notifications: ["Notifications", "Bildirimler"],
  mail: ["E-mail", "E-posta"],
  network: ["Network", "Ağ"],
  forbidden: ["Your role does not allow this", "Rolünüz buna izin vermiyor"],
  forbiddenNext: ["An admin of the clinic can open this part.", "Bu bölümü kliniğin bir yöneticisi açabilir."],
});
