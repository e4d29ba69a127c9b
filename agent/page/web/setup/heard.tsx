import { useState } from "preact/hooks";
import type { HeardStep } from "../../types/setup.ts";
import { DataTable } from "../../../../server/web/ui/list/data-table.tsx";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import { Bytes } from "./bytes.tsx";
import type { Say } from "./say.ts";
import { t } from "./texts.ts";

/** Shows the devices that the bytes may come from. The user decides which one it is. */
export function Heard({ step, say }: { step: HeardStep; say: Say }) {
  const { candidates, profiles, problem, advice, bytes, shown } = step;
  const [candidate, setCandidate] = useState(candidates.length > 0 ? 0 : -1);
  const [other, setOther] = useState("");
  const [isDoubted, setDoubted] = useState(false);
  const profile = candidate < 0 ? other : (candidates[candidate]?.profile ?? "");
  const choose = async (anyway: boolean) => {
    const isTaken = await say({ to: "heard", profile, candidate, anyway });
    setDoubted(!isTaken);
  };
  return (
    <>
      {problem !== null && <p class="note">{problem}</p>}
      {candidates.length === 0 && (
        <>
          <p>{bytes === 0 ? t("heardNothing") : t("heardUnknown", { bytes })}</p>
          <ul>
            {advice.map((one) => (
              <li key={one}>{t(one)}</li>
            ))}
          </ul>
        </>
      )}
      {candidates.length > 0 && <Candidates step={step} chosen={candidate} choose={setCandidate} />}
      <Bytes shown={shown} />
      <details open={candidates.length === 0 && bytes > 0}>
        <summary>{t("otherDevice")}</summary>
        <Field label={t("profile")} hint={t("profileHint")}>
          <select
            value={candidate < 0 ? other : ""}
            onChange={({ currentTarget }) => {
              setOther(currentTarget.value);
              setCandidate(-1);
            }}
          >
            <option value="">{t("chooseProfile")}</option>
            {profiles.map(({ profile: id, name }) => (
              <option key={id} value={id}>
                {name} ({id})
              </option>
            ))}
          </select>
        </Field>
      </details>
      <p class="actions">
        <button type="button" class="primary" disabled={profile === ""} onClick={() => void choose(false)}>
          {t("useDevice")}
        </button>
        {isDoubted && (
          <button type="button" onClick={() => void choose(true)}>
            {t("anyway")}
          </button>
        )}
        <button type="button" onClick={() => void say({ to: "heard", again: true })}>
          {t("listenAgain")}
        </button>
      </p>
    </>
  );
}

function Candidates({
  step: { candidates },
  chosen,
  choose,
}: {
  step: HeardStep;
  chosen: number;
  choose: (index: number) => void;
}) {
  return (
    <>
      <p>{t("heardKnown")}</p>
      <DataTable
        label={t("candidates")}
        class="cards"
        columns={[t("device"), [t("score"), "number labelled"], t("why")]}
      >
        {candidates.map(({ profile, name, protocol, setting, caller, score, reasons }, index) => (
          <tr key={`${profile} ${setting} ${caller}`}>
            <th scope="row">
              <label class="check">
                <input type="radio" name="candidate" checked={chosen === index} onChange={() => choose(index)} />
                {name} ({profile})
              </label>
            </th>
            <td class="number">{score}</td>
            <td>{[protocol, setting, caller, ...reasons].filter((part) => part !== null).join("; ")}</td>
          </tr>
        ))}
      </DataTable>
    </>
  );
}
