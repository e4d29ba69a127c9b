import { language } from "../../../../server/web/text.ts";
import { serverReason } from "../../types/words/doctor-words.ts";

/** Why the server is away, in the page's language, else in English. */
export function ServerReason({ of }: { of: string }) {
  const words = serverReason(of, language.value);
  return words === null ? <span lang="en">{of}</span> : <span>{words}</span>;
}
