import { Empty } from "../../resource.tsx";
import { language, translations } from "../../text.ts";
import { helpPages } from "./pages.ts";
import "./help.css";

/** A Markdown file that the plugin in vite.config.ts converts at build time. */
interface HelpPage {
  title: string;
  html: string;
}

const files = import.meta.glob<HelpPage>("../../help/*/*.md", { eager: true });

/** The help: its pages in a menu, and the chosen one. */
export function Help({ page }: { page?: string }) {
  const shown = page === undefined ? undefined : pageOf(page);
  return (
    <div class="help">
      <nav aria-label={t("pages")} class="side-menu help-menu no-print">
        <ul class="plain-list">
          {helpPages.map((name) => (
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

const t = translations({
  pages: ["Help pages", "Yardım sayfaları"],
  help: ["Help", "Yardım"],
  choose: [
    "Choose a page. They are part of this program, so they work without the internet.",
    "Bir sayfa seçin. Sayfalar bu programın parçasıdır, internet olmadan da çalışır.",
  ],
  nowhere: ["There is no such help page", "Böyle bir yardım sayfası yok"],
  home: ["All help pages", "Bütün yardım sayfaları"],
});
