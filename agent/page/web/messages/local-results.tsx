import type { LocalResult } from "../../types/messages.ts";
import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import { resultNumbers } from "../../../../server/web/ui/result-row/result-numbers.ts";
import { ResultRow, ResultTable } from "../../../../server/web/ui/result-row/result-row.tsx";
import { analyteName } from "../../../../server/web/ui/words/words.ts";

/** The results of a study: value, flag, position in the interval, and a doubt of the device in words. */
export function LocalResults({ label, results }: { label: string; results: readonly LocalResult[] }) {
  return (
    <ResultTable label={label}>
      {results.map(({ text, comment, ...result }, index) => (
        <ResultRow
          key={index}
          of={{
            ...result,
            ...resultNumbers(result),
            name: analyteName(result),
            value: text,
            unit: unitText(result.unit ?? ""),
          }}
          doubt={comment ?? null}
        />
      ))}
    </ResultTable>
  );
}
