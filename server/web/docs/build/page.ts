import { Marked, type Token, type Tokens } from "marked";
import type { Language } from "../../../../shared/api/language.ts";
import { isHelp } from "./plan.ts";
import { word } from "../words.ts";

/** A Markdown file that is read, but whose links are not resolved yet. */
export interface Page {
  /** Its path from the root of the project. */
  readonly file: string;
  readonly url: string;
  readonly language: Language;
  readonly title: string;
  readonly tokens: readonly Token[];
  readonly headings: readonly Heading[];
}

export interface Heading {
  readonly token: Token;
  /** The anchor, as GitHub makes it. */
  readonly id: string;
  readonly depth: number;
  readonly title: string;
}

/** @throws Error for a file without exactly one title */
export function readPage(file: string, text: string): Page {
  const tokens = new Marked().lexer(text);
  const headings: Heading[] = [];
  const taken = new Map<string, number>();
  for (const token of tokens) {
    if (token.type !== "heading") continue;
    const title = plainText(token);
    const anchor = anchorOf(title);
    const times = taken.get(anchor) ?? 0;
    taken.set(anchor, times + 1);
    const id = times === 0 ? anchor : `${anchor}-${times}`;
    headings.push({ token, id, depth: (token as Tokens.Heading).depth, title });
  }
  const titles = headings.filter(({ depth }) => depth === 1);
  const [title] = titles;
  if (title === undefined || titles.length > 1) throw new Error(`${file}: expected one line with # and the title`);
  return { file, url: urlOf(file), language: languageOf(file), title: title.title, tokens, headings };
}

/** The address of a page: its folder, without what a reader of the site does not know. */
function urlOf(file: string): string {
  const name = file
    .replace(/^server\/web\/help\/en\//, "clinic/")
    .replace(/^server\/web\/help\/tr\//, "tr/clinic/")
    .replace(/^\.github\//, "")
    .replace(/(^|\/)README\.md$/, "")
    .replace(/\.md$/, "")
    .toLowerCase();
  return name === "" ? "/docs" : `/docs/${name}`;
}

function languageOf(file: string): Language {
  return isHelp(file) && file.includes("/tr/") ? "tr" : "en";
}

/** The anchor of a heading by GitHub's rule: lower case, no punctuation, a hyphen for each space. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

/** Returns the words of a token without its marks. */
export function plainText(token: Token): string {
  if (token.type === "html") return "";
  if (token.type === "table") {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].flatMap((row) => row.map((cell) => textOf(cell.tokens))).join(" ");
  }
  if (token.type === "list") return (token as Tokens.List).items.map((item) => textOf(item.tokens)).join(" ");
  const inner = "tokens" in token ? token.tokens : undefined;
  return inner === undefined ? ("text" in token ? String(token.text) : "") : textOf(inner);
}

function textOf(tokens: readonly Token[]): string {
  const isBlock = tokens.some(({ type }) => type === "paragraph" || type === "list" || type === "code");
  return tokens.map((token) => plainText(token)).join(isBlock ? " " : "");
}

/** The form of links and pictures in a page. */
export interface Targets {
  /** Returns the HTML of a link whose content is `content`, and whose words are `words`. */
  link(href: string, content: string, words: string): string;
  /** Returns the address of a picture. */
  image(href: string): string;
}

/** Makes the HTML of a page. @throws Error for HTML in the Markdown, because the pages are text */
export function renderPage({ file, language, tokens, headings }: Page, targets: Targets): string {
  const marked = new Marked({
    renderer: {
      heading(token) {
        const id = headings.find((heading) => heading.token === token)?.id;
        const text = this.parser.parseInline(token.tokens);
        return `<h${token.depth}${id === undefined ? "" : ` id="${escaped(id)}"`}>${text}</h${token.depth}>\n`;
      },
      link({ href, tokens: inner }) {
        return targets.link(href, this.parser.parseInline(inner), inner.map((token) => plainText(token)).join(""));
      },
      image({ href, text }) {
        return `<img src="${escaped(targets.image(href))}" alt="${escaped(text)}">`;
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escaped(text)}\n</code></pre>\n`;
      },
      html({ text }) {
        if (/^\s*<!--[^]*-->\s*$/.test(text)) return "";
        throw new Error(`${file}: expected Markdown, got HTML: ${text}`);
      },
    },
  });
  const html = marked.parser([...tokens]);
  // A wide table scrolls in a frame, which the keyboard reaches.
  const frame = `<div class="table-frame" tabindex="0" role="group" aria-label="${word("table", language)}"><table>`;
  return html.replaceAll("<table>", frame).replaceAll("</table>", "</table></div>");
}

/** Writes a text as HTML. */
export function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replaceAll(/[&<>"']/g, (sign) => names[sign] ?? sign);
}
