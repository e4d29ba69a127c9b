import { Command } from "commander";
import { printJson, printTimes } from "../../../shared/platform/cli/output.ts";
import { listRowsOf } from "../../records/audit/audit.ts";
import { rangesOfVersion } from "../../records/clinics/ranges.ts";
import { listConflicts } from "../../records/studies/conflicts.ts";
import { historyOf, viewStudy } from "../../records/studies/history.ts";
import { findStoredStudy } from "../../records/studies/studies.ts";
import { type DataOption, dataOption } from "../common/options.ts";
import { explainLines } from "./study-text.ts";
import { clinicIdOf, withStore } from "../common/with-store.ts";

export const explainCommand = new Command("explain")
  .argument("<fp>")
  .description("print one time line of a study, and the interval of each flag")
  .option("--json", "print JSON")
  .addOption(dataOption())
  .action(explain);

async function explain(fp: string, { data, json }: DataOption & { json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    const stored = await findStoredStudy(store, fp);
    if (stored === undefined) throw new Error(`study ${fp} does not exist`);
    const view = await viewStudy(store, stored);
    const version = view.snapshot?.ranges ?? null;
    const clinicId = view.clinic_fp === null ? null : await clinicIdOf(store, view.clinic_fp);
    const records = {
      history: await historyOf(store, stored),
      conflicts: await listConflicts(store, { fp }),
      audit: await listRowsOf(store, fp),
      ranges: clinicId === null || version === null ? undefined : await rangesOfVersion(store, clinicId, version),
    };
    if (json) printJson({ ...view, ...records });
    else for (const line of explainLines(view, records)) printTimes(line);
  });
}
