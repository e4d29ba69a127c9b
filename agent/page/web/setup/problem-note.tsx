import { language } from "../../../../server/web/text.ts";
import { faultText } from "../../types/words/fault-words.ts";

/** A problem of the step in the page's language, else in English. Nothing without one. */
export function ProblemNote({ of: problem }: { of: string | null }) {
  if (problem === null) return null;
  const words = faultText(problem, language.value);
  return (
    <p class="note" lang={words === null ? "en" : undefined}>
      {words ?? problem}
    </p>
  );
}
