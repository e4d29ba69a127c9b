import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { translations } from "../../text.ts";
import { Icon } from "../status/icon.tsx";
import { PageChoices } from "./page-choices.tsx";
import "./header.css";

interface HeaderProps {
  /** The address of the first screen. */
  readonly home: string;
  readonly screens: readonly { readonly href: string; readonly name: string }[];
  /** The name of the user; absent on a page without users. */
  readonly user?: string;
  /** Content of the user's menu before the choices of the page. */
  readonly children?: ComponentChildren;
}

/** The row above every screen. On a narrow page the screens fold into a menu. */
export function Header({ home, screens, user, children }: HeaderProps) {
  const { path } = useLocation();
  const header = useRef<HTMLElement>(null);
  // A change of the screen keeps the page, so an open menu would stay open above it.
  useEffect(() => {
    for (const menu of header.current?.querySelectorAll<HTMLElement>(":popover-open") ?? []) menu.hidePopover();
  }, [path]);
  const isAt = (href: string) => path === href || (href !== home && path.startsWith(`${href}/`));
  return (
    <>
      <a class="skip" href="#main">
        {t("skip")}
      </a>
      <header class="top" ref={header}>
        <div class="top-row">
          <a class="brand" href={home}>
            <Brand />
            Vetwire
          </a>
          <nav class="top-screens" id="screens" popover="auto" aria-label={t("screens")}>
            {screens.map(({ href, name }) => (
              <a key={href} href={href} aria-current={isAt(href) ? "page" : undefined}>
                {name}
              </a>
            ))}
          </nav>
          <button type="button" class="top-fold" popovertarget="screens" aria-label={t("screens")}>
            <Icon of="menu" />
          </button>
          <button type="button" class="top-user" popovertarget="user-menu">
            <span class="avatar" aria-hidden="true">
              {user === undefined ? <Icon of="choices" /> : initials(user)}
            </span>
            <span class="top-name">{user ?? t("choices")}</span>
          </button>
        </div>
        <div class="user-menu" id="user-menu" popover="auto">
          <PageChoices />
          {children}
        </div>
      </header>
    </>
  );
}

function Brand() {
  return (
    <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
      <rect width="22" height="22" rx="6" />
      <path d="M4 11h3l2-5 4 10 2-5h3" />
    </svg>
  );
}

/** The first letters of the first and the last word of a name. */
function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  return (words.length > 1 ? [words[0], words.at(-1)] : words).map((word) => Array.from(word ?? "")[0] ?? "").join("");
}

const t = translations({
  skip: ["Skip to the content", "İçeriğe geç"],
  screens: ["Screens", "Ekranlar"],
  choices: ["Language, colours", "Dil, renkler"],
});
