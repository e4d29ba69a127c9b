import { language } from "../../../../server/web/text.ts";
import { type CodedReason, reasonIn } from "../../types/message-codes.ts";

/** The reason of a message or an image in the page's language, else in English. Nothing without a reason. */
export function ReasonText({ of }: { of: CodedReason }) {
  const found = reasonIn(language.value, of);
  if (found === null) return null;
  return <span lang={found.lang}>{found.words}</span>;
}
