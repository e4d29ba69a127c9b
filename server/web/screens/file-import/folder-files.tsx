import type { ImportState } from "../../../dashboard/types/file-import.ts";
import { dateTime } from "../../text.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { t } from "./texts.ts";

/** The files that a clinic PC found in its watched folder. Those with a question wait for a person. */
export function FolderFiles({ files, shown }: { files: readonly ImportState[]; shown: string | null }) {
  if (files.length === 0) return null;
  return (
    <section>
      <h2>{t("folder")}</h2>
      <p class="quiet">{t("folderIntro")}</p>
      <DataTable label={t("folder")} class="cards" columns={[t("file"), t("came"), t("state")]}>
        {files.map((state) => (
          <tr key={state.id} aria-current={state.id === shown ? "true" : undefined}>
            <th scope="row">
              <a href={`/dashboard/patients/import?file=${state.id}`}>{state.file_name}</a>
            </th>
            <td>{dateTime(state.started_at)}</td>
            <td>{stateWords(state)}</td>
          </tr>
        ))}
      </DataTable>
    </section>
  );
}

function stateWords({ phase, result, done, fault }: ImportState): string {
  switch (phase) {
    case "read":
    case "previewed":
    case "previewing":
      return t(fault === null ? "waitsForAnswer" : "folderFault");
    case "running":
      return t("folderRuns");
    case "failed":
      return t("failed", { done });
    case "undone":
      return t("undone");
    case "done":
      return t("folderDone", { new: 0, changed: 0, unchanged: 0, refused: 0, ...result?.counts });
  }
}
