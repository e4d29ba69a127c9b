import { signal } from "@preact/signals";
import type { Notice } from "../../dashboard/types/results/today.ts";
import { remember, remembered } from "../browser-storage.ts";
import { language, translations } from "../text.ts";
import { Banner } from "./banner.tsx";

/** The notice of the server's operator to all clinics; the menu reads it with its counts. */
export const operatorNotice = signal<Notice | null>(null);

const CLOSED = "closed-notice";
const closedId = signal(remembered(CLOSED));

/** Shows the notice until it ends, or until the user closes it in this browser. */
export function OperatorNotice() {
  const notice = operatorNotice.value;
  if (notice === null || notice.id === closedId.value) return null;
  const close = () => {
    remember(CLOSED, notice.id);
    closedId.value = notice.id;
  };
  return (
    <Banner>
      {notice[language.value]}{" "}
      <button type="button" onClick={close}>
        {t("close")}
      </button>
    </Banner>
  );
}

const t = translations({
  close: ["Close the notice", "Duyuruyu kapat"],
});
