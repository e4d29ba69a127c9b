import { Empty } from "../../resource.tsx";
import { texts } from "../../text.ts";

export function Today() {
  return (
    <>
      <h1>{t("today")}</h1>
      <Empty title={t("nothing")} />
    </>
  );
}

const t = texts(
  { today: "Today", nothing: "Nothing needs you" },
  { today: "Bugün", nothing: "Sizi bekleyen bir şey yok" },
);
