import { type HeardReason, heardWords } from "../../../dashboard/types/heard-reason.ts";
import { language } from "../../text.ts";

/** What an agent reports, in the page's language, else in the agent's words. */
export function HeardText({ of }: { of: HeardReason }) {
  const { lang, words } = heardWords(of, language.value);
  return <span lang={lang}>{words}</span>;
}
