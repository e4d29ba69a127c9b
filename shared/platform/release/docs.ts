import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { tar } from "../package/tar.ts";
import { docsFile } from "./addresses.ts";

// The documentation as a file of the release: the pages that a server has under /docs, for any static host and below any path of it.

/** Links to what a server alone has: its screens, and its descriptions of the API. */
const OF_SERVER = /<a href="\/(?:(?:dashboard|sync|fhir)\b[^"]*|docs\/api)"[^>]*>([^]*?)<\/a>/g;
const ADDRESS = /\b(href|src|data-index)="\/(docs|assets)\b\/?([^"#]*)/g;

/** Packs the pages of a build. `time` is that of every file (s since 1970). @throws Error without a build */
export function packDocs(web: string, out: string, version: string, time: number): void {
  const pages = fs.globSync("**/*.html", { cwd: path.join(web, "docs") });
  if (pages.length === 0) throw new Error("the pages are not built: run npm run build first");
  const draft = fs.mkdtempSync(path.join(os.tmpdir(), "vetwire-docs-"));
  try {
    const name = docsFile(version);
    const top = path.basename(name, ".tar.gz");
    const assets = new Set<string>();
    const write = (file: string, content: string | Buffer) => {
      const place = path.join(draft, top, file);
      fs.mkdirSync(path.dirname(place), { recursive: true });
      fs.writeFileSync(place, content);
    };
    for (const page of pages.toSorted()) {
      const html = fs.readFileSync(path.join(web, "docs", page), "utf8");
      for (const [, , folder, rest = ""] of html.matchAll(ADDRESS)) if (folder === "assets") assets.add(rest);
      write(page, withRelativeLinks(html, page.split(path.sep).length - 1));
    }
    for (const asset of assets) {
      const bytes = fs.readFileSync(path.join(web, "assets", asset));
      write(`assets/${asset}`, asset.endsWith(".json") ? relativeIndex(bytes.toString()) : bytes);
    }
    tar(path.join(out, name), draft, [top], time);
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

function withRelativeLinks(html: string, depth: number): string {
  return html.replaceAll(OF_SERVER, "$1").replaceAll(ADDRESS, (_, attribute: string, folder: string, rest: string) => {
    return `${attribute}="${"../".repeat(depth)}${folder === "assets" ? `assets/${rest}` : pageFile(rest)}`;
  });
}

/** The index of the search, whose addresses are relative to its own. */
function relativeIndex(text: string): string {
  const { pages, ...rest } = JSON.parse(text) as { pages: [url: string, ...others: unknown[]][] };
  const moved = pages.map(([url, ...others]) => [`../${pageFile(url.replace(/^\/docs\/?/, ""))}`, ...others]);
  return JSON.stringify({ pages: moved, ...rest });
}

function pageFile(name: string): string {
  return name === "" ? "index.html" : `${name}.html`;
}
