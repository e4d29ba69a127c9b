import { useState } from "preact/hooks";
import type { FolderStep } from "../../types/setup.ts";
import { DataTable } from "../../../../server/web/ui/list/data-table.tsx";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import type { Say } from "./say.ts";
import { deviceName } from "./device-name.ts";
import { t } from "./texts.ts";

/** Shows which profiles read the files of a folder. The user decides, also for a folder without files. */
export function FolderFiles({ step, say }: { step: FolderStep; say: Say }) {
  const { path, problem, device, candidates, profiles } = step;
  const [profile, setProfile] = useState(candidates[0]?.profile ?? "");
  if (problem !== null) {
    return (
      <p class="note" role="alert">
        {t(`folder.${problem}`, { path, device: device ?? "" })}
      </p>
    );
  }
  return (
    <>
      <p>{t(candidates.length > 0 ? "filesKnown" : "filesUnknown", { path })}</p>
      {candidates.length > 0 ? (
        <DataTable label={t("candidates")} class="cards" columns={[t("deviceColumn"), t("why")]}>
          {candidates.map((each) => (
            <tr key={each.profile}>
              <th scope="row">
                <label class="check">
                  <input
                    type="radio"
                    name="candidate"
                    checked={profile === each.profile}
                    onChange={() => setProfile(each.profile)}
                  />
                  {deviceName(each)} ({each.profile})
                </label>
              </th>
              <td>{t("readsFiles", { read: each.read, of: each.files, results: each.results })}</td>
            </tr>
          ))}
        </DataTable>
      ) : (
        <p>
          <a href="/maker">{t("makeFileProfile")}</a>
        </p>
      )}
      <details open={candidates.length === 0}>
        <summary>{t("otherDevice")}</summary>
        <Field label={t("profile")}>
          <select value={profile} onChange={({ currentTarget }) => setProfile(currentTarget.value)}>
            <option value="">{t("chooseProfile")}</option>
            {profiles.map((each) => (
              <option key={each.profile} value={each.profile}>
                {deviceName(each)} ({each.profile})
              </option>
            ))}
          </select>
        </Field>
      </details>
      <p class="actions">
        <button
          type="button"
          class="primary"
          disabled={profile === ""}
          onClick={() => void say({ to: "folder", profile })}
        >
          {t("useDevice")}
        </button>
      </p>
    </>
  );
}
