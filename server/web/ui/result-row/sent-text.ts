import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import type { SentValue } from "../../../../shared/clinical/units/value-text.ts";
import { translations } from "../../text.ts";

/** Says what was sent in another unit than the shown one, or under another name; undefined for the same. */
export function convertedFrom({
  unit,
  sent,
  otherName,
}: {
  unit: string | null;
  sent?: SentValue | undefined;
  otherName?: string | undefined;
}): string | undefined {
  const isSame = otherName === undefined && unitText(sent?.unit ?? "") === (unit ?? "");
  if (sent === undefined || isSame) return undefined;
  return t("sentAs", { text: [otherName, sent.value, unitText(sent.unit ?? "")].filter(Boolean).join(" ") });
}

const t = translations({ sentAs: ["sent as {text}", "gönderilen: {text}"] });
