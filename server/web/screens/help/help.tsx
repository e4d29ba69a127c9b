import { useState } from "preact/hooks";
import { Empty } from "../../resource.tsx";
import { language, translations } from "../../text.ts";
import { helpPages } from "./pages.ts";
import { Field } from "../../ui/form/field.tsx";
import { folded } from "../../ui/words/folded.ts";
import "./help.css";

/** A Markdown file that the plugin in vite.config.ts converts at build time. */
interface HelpPage {
  title: string;
  html: string;
}

const files = import.meta.glob<HelpPage>("../../help/*/*.md", { eager: true });

/** The help: its pages in a menu with a search over their words, and the chosen one. */
export function Help({ page }: { page?: string }) {
  const [wanted, setWanted] = useState("");
  const shown = page === undefined ? undefined : pageOf(page);
  const words = folded(wanted).split(/\s+/).filter(Boolean);
  const fitting = helpPages.filter((name) => words.every((word) => textOf(name).includes(word)));
  return (
    <div class="help">
      <nav aria-label={t("pages")} class="side-menu help-menu no-print">
        <Field label={t("search")}>
          <input type="search" value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
        </Field>
        <p class="quiet" role="status">
          {words.length > 0 && t(fitting.length === 0 ? "none" : "found", { count: fitting.length })}
        </p>
        <ul class="plain-list">
          {fitting.map((name) => (
            <li key={name}>
              <a href={`/dashboard/help/${name}`} aria-current={name === page ? "page" : undefined}>
                {pageOf(name)?.title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {page === undefined ? (
        <div>
          <h1>{t("help")}</h1>
          <p>{t("choose")}</p>
          <p>
            <a href="/docs" hreflang="en">
              {t("documents")}
            </a>
          </p>
        </div>
      ) : shown === undefined ? (
        <div>
          <h1>{t("help")}</h1>
          <Empty title={t("nowhere")}>
            <a href="/dashboard/help">{t("home")}</a>
          </Empty>
        </div>
      ) : (
        // The only place that sets HTML. It comes from our own Markdown files at build time.
        <article key={shown.title} dangerouslySetInnerHTML={{ __html: shown.html }} />
      )}
    </div>
  );
}

function pageOf(name: string): HelpPage | undefined {
  return files[`../../help/${language.value}/${name}.md`];
}

const texts = new Map<HelpPage, string>();

/** The words of a page without its marks, folded. */
function textOf(name: string): string {
  const page = pageOf(name);
  if (page === undefined) return "";
  const known = texts.get(page);
  if (known !== undefined) return known;
  const text = folded(new DOMParser().parseFromString(page.html, "text/html").body.textContent);
  texts.set(page, text);
  return text;
}

const t = translations({
  search: ["Search the help", "Yardımda ara"],
  found: ["Pages: {count}", "Sayfa: {count}"],
  none: ["No page has these words. Try fewer.", "Bu sözcükler hiçbir sayfada yok. Daha azını deneyin."],
  pages: ["Help pages", "Yardım sayfaları"],
  help: ["Help", "Yardım"],
  choose: [
    "Choose a page. They are part of this program, so they work without the internet.",
    "Bir sayfa seçin. Sayfalar bu programın parçasıdır, internet olmadan da çalışır.",
  ],
  documents: ["Documentation for other software and IT", "Diğer yazılımlar ve BT için belgeler (İngilizce)"],
  nowhere: ["There is no such help page", "Böyle bir yardım sayfası yok"],
  home: ["All help pages", "Bütün yardım sayfaları"],
});
