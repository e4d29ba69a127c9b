import { createHash } from "node:crypto";
import { PAGE_HEADERS } from "../../../../shared/network/page-files.ts";
import type { Language } from "../../../../shared/api/language.ts";
import type { OpenLink } from "../../../records/sharing/report-links.ts";

// The pages that an owner sees. They have no script, and no word about the animal: messengers fetch an address for a preview and
// keep what they find.

const STYLE = `
:root { color-scheme: light dark; --ink: #15211f; --quiet: #51605d; --page: #f5f7f7; --card: #fff; --line: #e0e7e5; --main: #0b6e69; --on: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8efed; --quiet: #a6b5b1; --page: #0f1514; --card: #171f1d; --line: #2a3633; --main: #5fcabf; --on: #04211e; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 24px 16px; background: var(--page); color: var(--ink); font: 16px/1.5 -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", system-ui, sans-serif; }
main { max-width: 34rem; margin: 8vh auto 0; padding: 24px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow-wrap: anywhere; }
h1 { margin: 0 0 8px; font-size: 1.375rem; line-height: 1.3; }
p { margin: 0 0 16px; }
.quiet { color: var(--quiet); }
form { display: flex; flex-wrap: wrap; gap: 12px; margin: 16px 0; }
button { min-height: 44px; padding: 8px 20px; border: 1px solid var(--main); border-radius: 8px; background: none; color: var(--main); font: inherit; font-weight: 600; cursor: pointer; }
button.primary { background: var(--main); color: var(--on); }
button:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
section + section { margin-top: 24px; padding-top: 24px; border-top: 1px solid var(--line); }
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** Headers of the pages and of the report: no search engine, no store, no referrer, no other site. */
export const OWNER_HEADERS = {
  ...PAGE_HEADERS,
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  "cache-control": "no-store",
  "x-robots-tag": "noindex, nofollow, noarchive",
};

/** The PDF. Viewers of browsers are pages with an object. */
export const REPORT_HEADERS = {
  ...OWNER_HEADERS,
  "content-security-policy": "default-src 'none'; object-src 'self'; frame-ancestors 'none'",
};

const words = {
  title: ["A report for you", "Sizin için bir rapor"],
  from: ["{clinic} shares a laboratory report with you.", "{clinic} sizinle bir laboratuvar raporu paylaşıyor."],
  until: ["The link works until {date}.", "Bağlantı {date} tarihine kadar geçerlidir."],
  open: ["Open the report", "Raporu aç"],
  save: ["Download as PDF", "PDF olarak indir"],
  counted: [
    "The clinic sees that the report was opened and when, not by whom.",
    "Klinik, raporun açıldığını ve ne zaman açıldığını görür; kimin açtığını görmez.",
  ],
  deadTitle: ["This link does not open a report", "Bu bağlantı bir rapor açmıyor"],
  dead: [
    "It has ended, or its address is not complete. Ask the clinic for a new link.",
    "Süresi dolmuş ya da adresi eksik. Klinikten yeni bir bağlantı isteyin.",
  ],
  busyTitle: ["One moment, please", "Lütfen biraz bekleyin"],
  busy: [
    "The report cannot be opened just now. Try again in a minute.",
    "Rapor şu anda açılamıyor. Bir dakika sonra yeniden deneyin.",
  ],
} as const;

function word(language: Language, name: keyof typeof words): string {
  return words[name][language === "tr" ? 1 : 0];
}

/** The page of a link that opens: its button fetches the report, and counts. */
export function linkPage({ clinicName, language, zone, endsAt }: OpenLink): string {
  const date = new Intl.DateTimeFormat(language === "tr" ? "tr-TR" : "en-GB", {
    ...{ dateStyle: "long", timeStyle: "short", timeZone: zone },
  }).format(endsAt);
  const text = (name: keyof typeof words) => escaped(word(language, name));
  return page(
    language,
    `<h1>${text("title")}</h1>
<p>${text("from").replace("{clinic}", () => escaped(clinicName))}</p>
<form method="post">
<button class="primary">${text("open")}</button>
<button formaction="?save=1">${text("save")}</button>
</form>
<p class="quiet">${text("until").replace("{date}", () => escaped(date))} ${text("counted")}</p>`,
  );
}

/** The page of every other link: wrong, ended, revoked or moved, in both languages. */
export const DEAD_PAGE = bothLanguages("deadTitle", "dead");

/** The page of a refusal that ends by itself. */
export const BUSY_PAGE = bothLanguages("busyTitle", "busy");

function bothLanguages(title: "deadTitle" | "busyTitle", text: "dead" | "busy"): string {
  const part = (language: Language, level: 1 | 2) =>
    `<section lang="${language}"><h${level}>${word(language, title)}</h${level}><p>${word(language, text)}</p></section>`;
  return page("en", `${part("en", 1)}\n${part("tr", 2)}`, word("en", title));
}

function page(language: Language, content: string, title = word(language, "title")): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow, noarchive">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}
