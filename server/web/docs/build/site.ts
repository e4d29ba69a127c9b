import { docsFile, fileAddress, isExample } from "../../../../shared/platform/release/addresses.ts";
import type { SearchIndex } from "../search.ts";
import { word } from "../words.ts";
import { bodyOf, type Frame } from "./frame.ts";
import { type Project, targetsOf } from "./links.ts";
import { escaped, type Page, readPage, renderPage } from "./page.ts";
import { helpFile, HOME, isHelp, menuOf, VERSIONS } from "./plan.ts";
import { indexOf } from "./search-index.ts";

// The documentation: every Markdown file of the project as a page. The files are the only text.

/** The files that the site is made of. */
export interface Sources {
  /** The Markdown files by their paths. */
  readonly texts: ReadonlyMap<string, string>;
  readonly exists: Project["exists"];
  readonly homepage: string;
  readonly version: string;
}

/** A file that the build stores, with its address. */
interface Store {
  readonly image: Project["image"];
  readonly index: (index: SearchIndex) => string;
}

/** Makes the files below `docs/`, by their names. `template` is the page that vite made. @throws Error that lists every broken link */
export function makeSite(sources: Sources, template: string, store: Store): Map<string, string> {
  const files = [...sources.texts.keys()].toSorted();
  const repository = isExample(sources.homepage) ? null : sources.homepage;
  const textOf = (file: string, text: string) =>
    file === VERSIONS && repository !== null ? withDocuments(text, repository) : text;
  const pages = new Map([...sources.texts].map(([file, text]) => [file, readPage(file, textOf(file, text))]));
  const menus = { en: menuOf(files, "en"), tr: menuOf(files, "tr") };
  const inOrder = [...new Set([HOME, ...filesOf(menus.en), ...filesOf(menus.tr), VERSIONS])].map((file) =>
    pageOf(file, pages),
  );
  const unplaced = files.filter((file) => !inOrder.some((page) => page.file === file));
  if (unplaced.length > 0) throw new Error(`pages without a place in the menu: ${unplaced.join(", ")}`);
  const project: Project = {
    pages,
    exists: sources.exists,
    image: store.image,
    version: sources.version,
    repository,
  };
  const shared = {
    ...{ pages, home: pageOf(HOME, pages), versions: pageOf(VERSIONS, pages), version: sources.version },
    index: store.index(indexOf(inOrder)),
  };
  const broken: string[] = [];
  const made = inOrder.map((page) => {
    const text = renderPage(page, targetsOf(page, project, broken));
    const frame: Frame = { ...shared, menu: menus[page.language] };
    return [fileName(page), filled(template, page, bodyOf(page, text, translationOf(page, pages), frame))] as const;
  });
  if (broken.length > 0) throw new Error(`broken links:\n${broken.join("\n")}`);
  return new Map(made);
}

/** Gives each released version a link to its own documentation, which is a file of its release. */
function withDocuments(changelog: string, homepage: string): string {
  return changelog.replaceAll(/^## \[(\d+\.\d+\.\d+)\] - .*$/gm, (heading, version: string) => {
    const address = fileAddress(homepage.replace(/\/$/, ""), version, docsFile(version));
    return `${heading}\n\n[Documentation of ${version} (tar.gz)](${address})`;
  });
}

function filesOf(menu: ReturnType<typeof menuOf>): string[] {
  return menu.flatMap(({ parts }) => parts.flatMap((part) => part.files));
}

function pageOf(file: string, pages: ReadonlyMap<string, Page>): Page {
  const page = pages.get(file);
  if (page === undefined) throw new Error(`expected the page ${file}`);
  return page;
}

/** The same help page in the other language. The pages in English alone lead to the first help page. */
function translationOf({ file, language }: Page, pages: ReadonlyMap<string, Page>): Page | undefined {
  if (language === "tr") return pages.get(file.replace("/tr/", "/en/"));
  return pages.get(isHelp(file) ? file.replace("/en/", "/tr/") : helpFile("tr", "first-steps"));
}

/** `index.html` for the first page, otherwise the path of the address with `.html`. */
function fileName({ url }: Page): string {
  return url === "/docs" ? "docs/index.html" : `${url.slice(1)}.html`;
}

/** Puts a page into the template. Its script sets the colours, so the page is drawn after it. */
function filled(template: string, page: Page, body: string): string {
  const title = `${page.title} · ${word("documents", page.language)}`;
  return template
    .replace('<html lang="en">', `<html lang="${page.language}">`)
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(title)}</title>`)
    .replaceAll('<script type="module"', '<script type="module" blocking="render"')
    .replace("<!-- page -->", () => body);
}
