import { useState } from "preact/hooks";
import type { HeardStep, SetupCandidate, SetupTie } from "../../types/setup.ts";
import { DataTable } from "../../../../server/web/ui/list/data-table.tsx";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import { Bytes } from "./bytes.tsx";
import type { Say } from "./say.ts";
import { deviceName } from "./device-name.ts";
import { ProblemNote } from "./problem-note.tsx";
import { t } from "./texts.ts";

/** Shows the devices that the bytes may come from. The user decides which one it is. */
export function Heard({ step, say }: { step: HeardStep; say: Say }) {
  const { candidates, tie, profiles, problem, advice, bytes, shown } = step;
  // If two fit equally well, the user chooses.
  const [candidate, setCandidate] = useState(candidates.length > 0 && tie === null ? 0 : -1);
  const [other, setOther] = useState("");
  const [isDoubted, setDoubted] = useState(false);
  const profile = candidate < 0 ? other : (candidates[candidate]?.profile ?? "");
  const choose = async (anyway: boolean) => {
    const isTaken = await say({ to: "heard", profile, candidate, anyway });
    setDoubted(!isTaken);
  };
  return (
    <>
      <ProblemNote of={problem} />
      {candidates.length === 0 && (
        <>
          <p>{bytes === 0 ? t("heardNothing") : t("heardUnknown", { bytes })}</p>
          <ul>
            {advice.map((one) => (
              <li key={one}>{t(one)}</li>
            ))}
          </ul>
          {advice.some((one) => one === "unknown") && (
            <p>
              <a href="/maker">{t("makeProfile")}</a>
            </p>
          )}
        </>
      )}
      {tie !== null && <Tie tie={tie} />}
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
            {profiles.map((each) => (
              <option key={each.profile} value={each.profile}>
                {deviceName(each)} ({each.profile})
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
  // A dialect of its own has no general profile beside it.
  const isAlone = ({ protocol }: SetupCandidate) =>
    !candidates.some((each) => each.isGeneral && each.protocol === protocol);
  const callers = new Set(candidates.map(({ caller }) => caller)).size;
  return (
    <>
      <p>{t("heardKnown")}</p>
      <DataTable label={t("candidates")} class="cards" columns={[t("deviceColumn"), t("why")]}>
        {candidates.map((each, index) => (
          <tr key={`${each.profile} ${each.setting} ${each.caller}`}>
            <th scope="row">
              <label class="check">
                <input type="radio" name="candidate" checked={chosen === index} onChange={() => choose(index)} />
                {deviceName(each)} ({each.profile})
              </label>
            </th>
            <td>
              {evidenceText(each, isAlone(each))}
              <SmallPrint parts={[each.setting, callers > 1 ? each.caller : null]} />
            </td>
          </tr>
        ))}
      </DataTable>
    </>
  );
}

function SmallPrint({ parts }: { parts: readonly (string | null)[] }) {
  const given = parts.filter((part) => part !== null);
  if (given.length === 0) return null;
  return <p class="quiet">{given.join("; ")}</p>;
}

/** Says what speaks for a candidate: "calls itself BM850 (MSH-3.1), reads 17 of 19 rows". */
function evidenceText({ named, mark, rows, isGeneral }: SetupCandidate, isAlone: boolean): string {
  const parts = [
    named === null ? null : t("callsItself", named),
    mark === "own" ? t("ownTexts") : mark === "shared" ? t("sharedTexts") : null,
    rows === null ? null : t("readsRows", rows),
  ].filter((part) => part !== null);
  const isUnnamed = named === null && mark === null;
  if (isUnnamed) parts.unshift(t(isGeneral ? "anyDevice" : isAlone ? "formFits" : "unnamed"));
  return parts.join(", ");
}

/** Shows where two profiles differ that fit alike. */
function Tie({ tie: { names, rows } }: { tie: SetupTie }) {
  return (
    <>
      <p class="note">{t(rows.length > 0 ? "tie" : "tieAlike", { one: names[0], other: names[1] })}</p>
      {rows.length > 0 && (
        <DataTable
          label={t("tieRows")}
          class="cards"
          columns={[t("row"), [names[0], "labelled"], [names[1], "labelled"]]}
        >
          {rows.map(({ name, read }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {read.map((text, index) => (
                <td key={names[index]}>{text ?? t("notRead")}</td>
              ))}
            </tr>
          ))}
        </DataTable>
      )}
    </>
  );
}
