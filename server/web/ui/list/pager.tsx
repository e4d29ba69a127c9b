import { translations } from "../../text.ts";
import { formValues } from "../form/form.ts";
import "./pager.css";

/** Links to the pages of a list, with the range of the shown rows, and a field that leads to any page of a long one. */
export function Pager({
  of: { page, page_size, total, has_more },
  open,
}: {
  of: { page: number; page_size: number; total: number; has_more: boolean };
  open: (page: number) => void;
}) {
  if (page === 1 && !has_more) return null;
  const last = Math.ceil(total / page_size);
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
      {last > 2 && (
        <form onSubmit={(event) => open(Number(formValues(event)["page"]))}>
          <label>
            {t("page")}{" "}
            <input key={page} type="number" name="page" min={1} max={last} required defaultValue={String(page)} />
          </label>
          <button type="submit">{t("go")}</button>
        </form>
      )}
    </nav>
  );
}

const t = translations({
  pages: ["Pages", "Sayfalar"],
  previous: ["Previous", "Önceki"],
  next: ["Next", "Sonraki"],
  page: ["Page", "Sayfa"],
  go: ["Go", "Git"],
  shown: ["{from} to {to} of {total}", "{total} satırdan {from}-{to}"],
});
