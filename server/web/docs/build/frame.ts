import type { Language } from "../../../../shared/api/language.ts";
import { word } from "../words.ts";
import { escaped, type Page } from "./page.ts";
import { type Part, type Reference, type Section, VERSIONS } from "./plan.ts";

// The frame of a page: header with search, menu, the text, and the pages before and after it.

/** The texts in the frame of every page of a language. */
export interface Frame {
  readonly home: Page;
  readonly versions: Page;
  readonly menu: readonly Section[];
  readonly pages: ReadonlyMap<string, Page>;
  readonly version: string;
  /** The address of the search's index. */
  readonly index: string;
}

/** Makes the content of `<body>`. `language` is the frame's: that of the page, and of its menu. */
export function bodyOf(page: Page, text: string, translation: Page | undefined, frame: Frame): string {
  const { language } = page;
  const t = (name: Parameters<typeof word>[0]) => word(name, language);
  return `<a class="skip" href="#main">${t("skip")}</a>
<header class="docs-top">
<a class="docs-brand" href="${frame.home.url}">Vetwire <span>${t("documents")}</span></a>
<form role="search" class="no-print" data-index="${frame.index}" hidden>
<input type="search" aria-label="${t("search")}" placeholder="${t("search")}" autocomplete="off" spellcheck="false">
</form>
<p class="docs-more">${link(frame.versions, language, word("version", language, { version: frame.version }))}
${translation === undefined ? "" : link(translation, language, translation.language === "tr" ? "Türkçe" : "English")}</p>
</header>
<section class="docs-found no-print" aria-label="${t("found")}" hidden><p role="status"></p><ol></ol></section>
<div class="docs">
<nav class="docs-menu side-menu no-print" aria-label="${t("pages")}"><details open><summary>${t("pages")}</summary>
${link(frame.home, language, frame.home.title, page)}
${frame.menu.map((section) => sectionOf(section, page, frame)).join("\n")}
${link(frame.versions, language, frame.versions.title, page)}
</details></nav>
<main id="main" tabindex="-1"><article>
${text}</article>
${neighbours(page, frame)}</main>
</div>`;
}

function sectionOf({ name, parts }: Section, page: Page, frame: Frame): string {
  const isHere = parts.some(({ files }) => files.includes(page.file));
  const heading = escaped(word(name, page.language));
  const content = parts.map((part) => partOf(part, name, page, frame)).join("\n");
  return `<details${isHere ? " open" : ""}><summary>${heading}</summary>\n${content}\n</details>`;
}

function partOf({ name, files, references = [] }: Part, section: Section["name"], page: Page, frame: Frame): string {
  const known = files.flatMap((file) => frame.pages.get(file) ?? []);
  const links = [
    ...references.map((reference) => referenceLink(reference, page.language)),
    ...known.map((each) => link(each, page.language, each.title, page)),
  ];
  const title = name === section ? "" : `<p class="docs-part">${escaped(word(name, page.language))}</p>\n`;
  return `${title}<ul class="plain-list">${links.map((each) => `<li>${each}</li>`).join("\n")}</ul>`;
}

function referenceLink({ url, title }: Reference, language: Language): string {
  return `<a href="${url}"${language === "en" ? "" : ' lang="en" hreflang="en"'}>${escaped(title)}</a>`;
}

/** A link to a page, with its language if it is another one. The page that is shown also has its headings. */
function link(to: Page, language: Language, text: string, shown?: Page): string {
  const other = to.language === language ? "" : ` lang="${to.language}" hreflang="${to.language}"`;
  const isHere = to === shown;
  const inside = isHere ? to.headings.filter(({ depth }) => depth === 2) : [];
  const list = inside.map(({ id, title }) => `<li><a href="#${escaped(id)}">${escaped(title)}</a></li>`).join("\n");
  return `<a href="${to.url}"${isHere ? ' aria-current="page"' : ""}${other}>${escaped(text)}</a>${
    list === "" ? "" : `<ul class="plain-list docs-inside">${list}</ul>`
  }`;
}

/** The order of the menu, from the first page to the versions. */
function neighbours(page: Page, { home, menu, pages }: Frame): string {
  const files = [home.file, ...menu.flatMap(({ parts }) => parts.flatMap((part) => part.files)), VERSIONS];
  const at = files.indexOf(page.file);
  const row = [
    ["previous", pages.get(files[at - 1] ?? "")],
    ["next", pages.get(files[at + 1] ?? "")],
  ] as const;
  const links = row.map(([name, to]) =>
    to === undefined
      ? ""
      : `<p class="docs-${name}"><small>${word(name, page.language)}</small> ${link(to, page.language, to.title)}</p>`,
  );
  return `<nav class="docs-neighbours no-print" aria-label="${word("more", page.language)}">${links.join("\n")}</nav>`;
}
