import type { Result, Snapshot } from "../../../shared/api/study.ts";
import { boundsOf } from "../../../shared/clinical/analytes/value.ts";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { valueText } from "../../../shared/clinical/units/value-text.ts";
import type { LocalResult } from "../../page/types/messages.ts";

/** Returns the results of a study with the names, printed values and reasons of its snapshot. */
export function localResults(results: readonly Result[], { rows }: Pick<Snapshot, "rows">): LocalResult[] {
  return results.map((result, index) => {
    const row = rows[index];
    const isOwn = result.code_source === "device" || row === undefined;
    const { name = null, name_tr = null } = (isOwn ? undefined : analyteByCode(row.code)) ?? {};
    return {
      ...result,
      ...boundsOf(result.reference_range),
      name,
      name_tr,
      text: row?.text ?? valueText(result),
      reason: row?.reason ?? null,
    };
  });
}
