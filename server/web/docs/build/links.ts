import path from "node:path";
import { escaped, type Page, type Targets } from "./page.ts";
import { helpFile } from "./plan.ts";

/** The project as links see it. */
export interface Project {
  readonly pages: ReadonlyMap<string, Page>;
  /** Whether a file or a folder of the project exists. */
  readonly exists: (file: string) => boolean;
  /** The address of the repository; null while there is none. */
  readonly repository: string | null;
  readonly version: string;
  /** Returns the address under which the site serves a picture. */
  readonly image: (file: string) => string;
}

/** Resolves the links of a page. What leads nowhere is added to `broken`, with the file that links there. */
export function targetsOf(page: Page, project: Project, broken: string[]): Targets {
  const reportBroken = (href: string) => void broken.push(`${page.file}: ${href}`);
  return {
    link(href, content, words) {
      if (/^(https?|mailto):/.test(href)) return anchor(href, content);
      const [target = "", fragment = ""] = href.split("#", 2);
      const file = fileOf(page, target);
      if (file === null) {
        // The screens of the dashboard are on the same server.
        if (!/^\/dashboard(\/|$)/.test(href)) reportBroken(href);
        return anchor(href, content);
      }
      const other = pageAt(file, project);
      if (other === undefined) {
        if (!isIn(file, project)) reportBroken(href);
        return outside(file, content, words, project);
      }
      if (fragment !== "" && !other.headings.some(({ id }) => id === fragment)) reportBroken(href);
      return anchor(fragment === "" ? other.url : `${other.url}#${fragment}`, content);
    },
    image(href) {
      const file = path.posix.join(path.posix.dirname(page.file), href);
      if (isIn(file, project)) return project.image(file);
      reportBroken(href);
      return href;
    },
  };
}

/** Whether the project has this file. One above its root belongs to the machine that builds. */
function isIn(file: string, { exists }: Project): boolean {
  return !/^\.\.(\/|$)/.test(file) && exists(file);
}

/** The file that a link names: null for an address of the server. A help page is named by its address in the dashboard. */
function fileOf(page: Page, target: string): string | null {
  const help = /^\/dashboard\/help\/([\w-]+)$/.exec(target);
  if (help?.[1] !== undefined) return helpFile(page.language, help[1]);
  if (target.startsWith("/")) return null;
  return target === "" ? page.file : path.posix.join(path.posix.dirname(page.file), target).replace(/\/$/, "");
}

/** The page of a file; of a folder its README, or its first page. */
function pageAt(file: string, { pages }: Project): Page | undefined {
  const first = () => [...pages.values()].find((page) => path.posix.dirname(page.file) === file);
  return pages.get(file) ?? pages.get(`${file}/README.md`) ?? first();
}

/** A file that is not a page: a link into the repository, or its path as code while the repository has no address. */
function outside(file: string, content: string, words: string, { repository, version }: Project): string {
  if (repository !== null) return anchor(`${repository}/blob/v${version}/${file}`, content);
  return file.endsWith(words) ? `<code>${escaped(words)}</code>` : `${content} (<code>${escaped(file)}</code>)`;
}

function anchor(href: string, content: string): string {
  return `<a href="${escaped(href)}">${content}</a>`;
}
