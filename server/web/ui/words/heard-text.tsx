import { type HeardReason, heardWords } from "../../../dashboard/types/devices/heard-reason.ts";
import { language } from "../../text.ts";

/** An agent's report in the page's language, else in the agent's words. */
export function HeardText({ of }: { of: HeardReason }) {
  const { lang, words } = heardWords(of, language.value);
  return <span lang={lang}>{words}</span>;
}
