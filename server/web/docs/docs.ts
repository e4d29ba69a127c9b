import type { Language } from "../../../shared/api/language.ts";
import { search, type SearchIndex } from "./search.ts";
import "../theme.ts";
import { word } from "./words.ts";
import "../style.css";
import "./docs.css";

// The script of every page of the documentation: the search, and the menu that is folded on a narrow page. Without it the pages
// can be read, too.

/** Results that are shown. */
const SHOWN_MAX = 20;

const language: Language = document.documentElement.lang === "tr" ? "tr" : "en";

function element<T extends HTMLElement>(selector: string, kind: new () => T): T {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`expected ${selector} in the page`);
  return found;
}

const menu = element(".docs-menu > details", HTMLDetailsElement);
const narrow = matchMedia("(max-width: 60rem)");
const foldMenu = () => void menu.toggleAttribute("open", !narrow.matches);
narrow.addEventListener("change", foldMenu);
foldMenu();

const form = element("form[role=search]", HTMLFormElement);
const input = element("input[type=search]", HTMLInputElement);
const results = element(".docs-found", HTMLElement);
const status = element(".docs-found [role=status]", HTMLElement);
const list = element(".docs-found ol", HTMLOListElement);
// On a static host the addresses in the index are relative to it.
const indexUrl = new URL(form.dataset["index"] ?? "", location.href);
let loading: Promise<SearchIndex> | undefined;

/** Loads the index once. The next call tries again after a failure. */
function loadIndex(): Promise<SearchIndex> {
  return (loading ??= fetch(indexUrl)
    .then((response) => {
      if (!response.ok) throw new Error(`expected the index of the search, got ${response.status}`);
      return response.json() as Promise<SearchIndex>;
    })
    .catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

async function showResults(): Promise<void> {
  const asked = input.value;
  const found = asked.trim() === "" ? null : await loadIndex().then((index) => search(index, asked, language));
  if (input.value !== asked) return; // a later key has its own results
  results.hidden = found === null;
  const shown = (found ?? []).slice(0, SHOWN_MAX);
  const isNone = found?.length === 0;
  status.textContent = word(isNone ? "none" : "count", language, { count: found?.length ?? 0 });
  list.replaceChildren(
    ...shown.map(({ url, page, section, language: written }) => {
      const link = document.createElement("a");
      link.href = new URL(url, indexUrl).href;
      link.textContent = section === "" ? page : `${page} › ${section}`;
      if (written !== language) link.lang = written;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }),
  );
}

function refresh(): void {
  showResults().catch(() => {
    results.hidden = false;
    status.textContent = word("failed", language);
  });
}

form.hidden = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  // The results may still load.
  void showResults().then(() => list.querySelector("a")?.click(), refresh);
});
input.addEventListener("focus", () => void loadIndex().catch(() => undefined), { once: true });
input.addEventListener("input", refresh);
results.addEventListener("click", ({ target }) => {
  // A link into this page leaves the results open over it.
  if (target instanceof HTMLAnchorElement) results.hidden = true;
});
