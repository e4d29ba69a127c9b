import path from "node:path";
import { describe, expect, test } from "vitest";
import { readSources } from "../../server/web/docs/build/plugin.ts";
import { makeSite, type Sources } from "../../server/web/docs/build/site.ts";
import { search, type SearchIndex } from "../../server/web/docs/search.ts";

const sources = readSources(path.resolve(import.meta.dirname, "../.."));
const TEMPLATE = '<html lang="en"><title>x</title><body><!-- page --><script type="module" src="/assets/x.js">';

/** Makes the site of these sources. @returns its pages by their addresses, and the index of the search */
function make(of: Sources): { pages: Map<string, string>; index: SearchIndex } {
  let index: SearchIndex = { pages: [], sections: [], words: {} };
  const files = makeSite(of, TEMPLATE, {
    image: (file) => `/assets/${path.basename(file)}`,
    index: (made) => {
      index = made;
      return "/assets/docs-index.json";
    },
  });
  const addresses = [...files].map(([file, html]) => [`/${file.replace(/(\/index)?\.html$/, "")}`, html] as const);
  return { pages: new Map(addresses), index };
}

/** The files of the project with empty pages, except for some. */
function changed(texts: Readonly<Record<string, string>>, others: Partial<Sources> = {}): Sources {
  const empty = [...sources.texts.keys()].map((file) => [file, "# A page"] as const);
  return { ...sources, ...others, texts: new Map([...empty, ...Object.entries(texts)]) };
}

const site = make(sources);
const idsOf = (html: string) => new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id));
const ids = new Map([...site.pages].map(([url, html]) => [url, idsOf(html)]));

describe("the documentation", () => {
  test("has each README, help page, decision and version, with its language", () => {
    expect(site.pages.size).toBe(sources.texts.size);
    for (const url of [
      "",
      "/changelog",
      "/agent/config",
      "/server/fhir",
      "/adr/0007-two-database-engines",
      "/security",
    ])
      expect(site.pages.get(`/docs${url}`)).toContain('<html lang="en">');
    expect(site.pages.get("/docs/tr/clinic/first-steps")).toMatch(
      /<html lang="tr">[^]*<h1 id="[^"]+">İlk adımlar<\/h1>/,
    );
    expect(site.pages.get("/docs")).toContain(`>Version ${sources.version}</a>`);
    for (const url of site.pages.keys()) expect(url).toMatch(/^(\/[\w-]+)+$/);
  });

  test("has no link and no anchor that leads nowhere, and nothing of another host", () => {
    const known = (url: string) => ["/docs/api", "/sync/docs", "/fhir/R4/metadata"].includes(url);
    const lost = [...site.pages].flatMap(([url, html]) =>
      Array.from(html.matchAll(/<a [^>]*?href="([^"]*)"/g), ([, href = ""]) => href).filter((href) => {
        if (/^https?:|^\/dashboard/.test(href) || known(href)) return false;
        const [to = "", anchor = ""] = href.split("#");
        const page = ids.get(to === "" ? url : to);
        return page === undefined || (anchor !== "" && !page.has(anchor));
      }),
    );
    expect(lost).toEqual([]);
    const loaded = [...site.pages.values()].flatMap((html) =>
      Array.from(html.matchAll(/<(?:script|img|link)[^>]*? (?:src|href)="([^"]*)"/g), ([, address]) => address),
    );
    expect(new Set(loaded)).toEqual(new Set(["/assets/results.png", "/assets/x.js"]));
  });

  test("leads from each page to the one after it, in the order of the menu", () => {
    const visited = ["/docs"];
    for (;;) {
      const next = /class="docs-next">.*?href="([^"]+)"/.exec(site.pages.get(visited.at(-1) ?? "") ?? "")?.[1];
      if (next === undefined) break;
      visited.push(next);
    }
    const english = [...site.pages.keys()].filter((url) => !url.startsWith("/docs/tr/"));
    expect(visited.toSorted()).toEqual(english.toSorted());
    const at = (url: string) => visited.indexOf(`/docs/${url}`);
    expect(at("clinic/first-steps")).toBe(1);
    expect(at("clinic/new-devices")).toBeLessThan(at("clinic/results"));
    expect(at("clinic/results")).toBeLessThan(at("server/fhir"));
    expect(at("server/fhir")).toBeLessThan(at("shared/platform/care"));
    expect(at("shared/platform/care")).toBeLessThan(at("agent/spool"));
    expect(visited.at(-1)).toBe("/docs/changelog");
  });

  test("is small: a page, all pages, the index of the search", () => {
    const sizes = [...site.pages.values()].map((html) => Buffer.byteLength(html));
    const index = Buffer.byteLength(JSON.stringify(site.index));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    process.stdout.write(`documentation: ${sizes.length} pages, ${total} bytes, index of ${index} bytes\n`);
    expect(Math.max(...sizes)).toBeLessThan(200_000);
    expect(total).toBeLessThan(4_000_000);
    expect(index).toBeLessThan(300_000);
  });
});

describe("the build fails", () => {
  test.each([
    ["a page that does not exist", "[x](nowhere/README.md)", "broken links:\nagent/README.md: nowhere/README.md"],
    ["an anchor that does not exist", "[x](cli/README.md#none)", "agent/README.md: cli/README.md#none"],
    ["an own anchor that does not exist", "[x](#none)", "agent/README.md: #none"],
    ["a file that does not exist", "[x](nothing.ts)", "agent/README.md: nothing.ts"],
    ["a picture that does not exist", "![x](nothing.png)", "agent/README.md: nothing.png"],
    ["an address outside of dashboard and documents", "[x](/clinic/v1/session)", "agent/README.md: /clinic/v1/session"],
    ["a script as address", "[x](javascript:alert(1))", "agent/README.md: javascript:alert(1)"],
    ["an address of another host without its protocol", "[x](//a.example/x)", "agent/README.md: //a.example/x"],
    ["HTML", "<script>alert(1)</script>", "agent/README.md: expected Markdown, got HTML"],
    ["a second title", "# Second", "agent/README.md: expected one line with # and the title"],
  ])("at %s", (_, line, problem) => {
    expect(() => make(changed({ "agent/README.md": `# The agent\n\n${line}\n` }))).toThrow(problem);
  });

  test.each(["[x](../../key.txt)", "![x](../../key.png)"])("at %s, which is a file above the project", (line) => {
    const build = () => make(changed({ "agent/README.md": `# The agent\n\n${line}\n` }, { exists: () => true }));
    expect(build).toThrow(/^broken links:\nagent\/README\.md: \.\.\/\.\.\/key/);
  });

  test("at a help page without a place, and names every broken link", () => {
    const texts = new Map(sources.texts);
    texts.delete("server/web/help/en/flags.md");
    expect(() => make({ ...sources, texts })).toThrow("missing server/web/help/en/flags.md");
    expect(() => make(changed({ "agent/README.md": "# A\n[x](a.ts) [x](b.ts)" }))).toThrow(/a\.ts\n.*b\.ts$/);
    expect(() => make(changed({ "server/web/help/en/new.md": "# New" }))).toThrow("help/en/new.md");
  });
});

describe("a link", () => {
  const text =
    "# The agent\n\n[main.ts](main.ts), [the start](main.ts), [help](../server/web/help/en/flags.md), [adr](../.github/adr)\n";

  test("to a file that is not a page is code while the repository has no address", () => {
    const html = make(changed({ "agent/README.md": text })).pages.get("/docs/agent");
    expect(html).toContain(
      '<p><code>main.ts</code>, the start (<code>agent/main.ts</code>), <a href="/docs/clinic/flags">help</a>, <a href="/docs/adr/0001-spool-in-a-worker">adr</a></p>',
    );
  });

  test("to a file that is not a page leads into the repository, at the version of the page", () => {
    const homepage = "https://git.example.com/vetwire";
    const html = make(changed({ "agent/README.md": text }, { homepage, version: "1.2.3" })).pages.get("/docs/agent");
    expect(html).toContain(`<a href="${homepage}/blob/v1.2.3/agent/main.ts">main.ts</a>`);
  });

  test("of a help page stays in its language, and screens of the dashboard are links", () => {
    const html = site.pages.get("/docs/tr/clinic/first-steps");
    expect(html).toContain('<a href="/docs/tr/clinic/import">');
    expect(html).toContain('<a href="/dashboard/patients">');
  });
});

test("each released version leads to its own documentation, once the owner's address is set", () => {
  const log =
    "# Changelog\n\n## [Unreleased]\n\n## [0.3.0] - 2027-01-01\n\n- B.\n\n## [0.2.0] - 2026-12-01\n\n- A.\n\n## [0.1.0]\n";
  const linksOf = (homepage: string) => {
    const html = make(changed({ "CHANGELOG.md": log }, { homepage })).pages.get("/docs/changelog") ?? "";
    return [...html.matchAll(/href="(https:[^"]*)"/g)].map(([, address]) => address);
  };
  const base = "https://git.example.com/vetwire/releases/download";
  expect(linksOf("https://git.example.com/vetwire")).toEqual([
    `${base}/v0.3.0/vetwire-docs-0.3.0.tar.gz`,
    `${base}/v0.2.0/vetwire-docs-0.2.0.tar.gz`,
  ]);
  expect(linksOf("https://vetwire.example")).toEqual([]);
});

test("text of a page is never HTML", () => {
  const html = make(
    changed({ "agent/README.md": '# A `<b>`\n\n`<img>` "&" <https://a.example/?x="y">\n\n```\n<x>\n```\n' }),
  );
  expect(html.pages.get("/docs/agent")).not.toMatch(/<b>|<img>|<x>/);
});

describe("the search", () => {
  const found = (asked: string, language: "en" | "tr" = "en") =>
    search(site.index, asked, language).map(({ url }) => url);

  test("finds sections by whole words and their starts, titles first", () => {
    expect(found("backup")[0]).toBe("/docs/clinic/backup");
    expect(found("certificate encryption")).toContain("/docs/server#encryption");
    expect(found("westg published").map((url) => url.split("#")[0])).toContain("/docs/shared/clinical/control");
    expect(found("xyzzy")).toEqual([]);
    expect(found("  ")).toEqual([]);
  });

  test("gives readers of Turkish their pages first, and readers of English none in Turkish", () => {
    expect(found("TAZI TIROKSIN", "tr")[0]).toMatch(/^\/docs\/tr\/clinic\//);
    expect(found("webhook", "tr")[0]).toMatch(/^\/docs\/tr\/clinic\/webhooks/);
    expect(found("webhook", "tr")).toContain("/docs/server/operations/webhooks");
    expect(found("tiroksin")).toEqual([]);
  });
});
