import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import type { SentValue } from "../../../../shared/clinical/units/value-text.ts";
import { translations } from "../../text.ts";

/** Says what was sent in another unit than the shown one; undefined for the same unit. */
export function convertedFrom({
  unit,
  sent,
}: {
  unit: string | null;
  sent?: SentValue | undefined;
}): string | undefined {
  if (sent === undefined || unitText(sent.unit ?? "") === (unit ?? "")) return undefined;
  return t("sentAs", { text: `${sent.value} ${unitText(sent.unit ?? "")}`.trimEnd() });
}

const t = translations({ sentAs: ["sent as {text}", "gönderilen: {text}"] });
