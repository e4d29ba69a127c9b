import { translations } from "../../text.ts";
import "./pager.css";

/** Links to the pages of a list, with the range of the shown rows. */
export function Pager({
  of: { page, page_size, total, has_more },
  open,
}: {
  of: { page: number; page_size: number; total: number; has_more: boolean };
  open: (page: number) => void;
}) {
  if (page === 1 && !has_more) return null;
  return (
    <nav class="actions pager" aria-label={t("pages")}>
      <span class="quiet">
        {t("shown", { from: (page - 1) * page_size + 1, to: Math.min(page * page_size, total), total })}
      </span>
      <button type="button" disabled={page === 1} onClick={() => open(page - 1)}>
        {t("previous")}
      </button>
      <button type="button" disabled={!has_more} onClick={() => open(page + 1)}>
        {t("next")}
      </button>
    </nav>
  );
}

const t = translations({
  pages: ["Pages", "Sayfalar"],
  previous: ["Previous", "Önceki"],
  next: ["Next", "Sonraki"],
  shown: ["{from} to {to} of {total}", "{total} satırdan {from}-{to}"],
});
