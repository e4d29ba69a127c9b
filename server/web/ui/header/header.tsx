import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { translations } from "../../text.ts";
import { Icon } from "../status/icon.tsx";
import { PageChoices } from "./page-choices.tsx";
import "./header.css";

/** An entry of the menu. */
export interface HeaderScreen {
  readonly href: string;
  readonly name: string;
  /** How many things wait for a person there. */
  readonly count?: { readonly of: number; readonly words: string; readonly isFault?: boolean } | undefined;
  /** The entry is in the row (the default), in the menu after it, or in the folded menu alone. */
  readonly at?: "more" | "fold" | undefined;
}

interface HeaderProps {
  /** The address of the first screen. */
  readonly home: string;
  /** The name of the program. */
  readonly brand?: string;
  readonly screens: readonly HeaderScreen[];
  /** Content of the row after the screens. */
  readonly tools?: ComponentChildren;
  /** The name of the user; absent on a page without users. */
  readonly user?: string;
  /** A second line after the name of the user. */
  readonly place?: string | undefined;
  /** Content of the user's menu after the choices of the page. */
  readonly children?: ComponentChildren;
}

/** The row above every screen. On a narrow page the screens fold into a menu. */
export function Header({ home, brand = "Vetwire", screens, tools, user, place, children }: HeaderProps) {
  const { path } = useLocation();
  const header = useRef<HTMLElement>(null);
  // A change of the screen keeps the page, so an open menu would stay open above it. Before the next click, which may open one.
  useLayoutEffect(() => {
    for (const menu of header.current?.querySelectorAll<HTMLElement>(":popover-open") ?? []) menu.hidePopover();
  }, [path]);
  const isAt = (href: string) => path === href || (href !== home && path.startsWith(`${href}/`));
  const link = (screen: HeaderScreen) => <ScreenLink key={screen.href} screen={screen} isHere={isAt(screen.href)} />;
  const more = screens.filter(({ at }) => at === "more");
  return (
    <>
      <a class="skip" href="#main">
        {t("skip")}
      </a>
      <header class="top" ref={header}>
        <div class="top-row">
          <a class="brand" href={home} aria-label={brand}>
            <Brand />
            <span>{brand}</span>
          </a>
          <nav class="top-screens" id="screens" popover="auto" aria-label={t("screens")}>
            {screens.filter(({ at }) => at === undefined).map(link)}
            {more.length > 0 && (
              <>
                <button
                  type="button"
                  class={more.some(({ href }) => isAt(href)) ? "top-more here" : "top-more"}
                  popovertarget="more-screens"
                >
                  {t("more")} <Icon of="down" />
                </button>
                <div class="pop" id="more-screens" popover="auto">
                  {more.map(link)}
                </div>
              </>
            )}
            {screens.filter(({ at }) => at === "fold").map(link)}
          </nav>
          {tools}
          <FoldButton screens={screens} />
          <button type="button" class="top-user" popovertarget="user-menu">
            <span class="avatar" aria-hidden="true">
              {user === undefined ? <Icon of="choices" /> : initials(user)}
            </span>
            <span class="top-name">
              {user ?? t("choices")}
              {place !== undefined && <small>{place}</small>}
            </span>
          </button>
        </div>
        <div class="pop" id="user-menu" popover="auto">
          <PageChoices />
          {children}
        </div>
      </header>
    </>
  );
}

function ScreenLink({ screen: { href, name, count, at }, isHere }: { screen: HeaderScreen; isHere: boolean }) {
  return (
    <a href={href} class={at === "fold" ? "only-fold" : undefined} aria-current={isHere ? "page" : undefined}>
      {name}
      {count !== undefined && count.of > 0 && (
        <>
          {" "}
          <span class={count.isFault === true ? "count fault-count" : "count"}>
            {count.of}
            <span class="visually-hidden"> {count.words}</span>
          </span>
        </>
      )}
    </a>
  );
}

/** Opens the folded menu, and shows the sum of what waits in it. */
function FoldButton({ screens }: Pick<HeaderProps, "screens">) {
  const counts = screens.flatMap(({ count }) => count ?? []);
  const sum = counts.reduce((total, count) => total + count.of, 0);
  const hasFault = counts.some((count) => count.isFault === true && count.of > 0);
  return (
    <button
      type="button"
      class="top-fold"
      popovertarget="screens"
      aria-label={sum === 0 ? t("screens") : t("screensDue", { sum })}
    >
      <Icon of="menu" />
      {sum > 0 && <span class={hasFault ? "count fault-count" : "count"}>{sum}</span>}
    </button>
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
  screensDue: ["Screens, {sum} waiting", "Ekranlar, {sum} bekleyen"],
  more: ["More", "Daha fazla"],
  choices: ["Language, colours", "Dil, renkler"],
});
