import { translations } from "../../text.ts";

/** Reports that a list omits damaged studies, because the list would otherwise look complete. */
export function LeftOut({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <p class="note" role="status">
      {t("leftOut", { count })}
    </p>
  );
}

const t = translations({
  leftOut: [
    "Studies missing from this list, because the database has damaged them: {count}. Ask the operator of the server to restore them.",
    "Veritabanında bozulduğu için bu listede olmayan tetkik sayısı: {count}. Sunucuyu işleten kişiden geri yüklemesini isteyin.",
  ],
});
