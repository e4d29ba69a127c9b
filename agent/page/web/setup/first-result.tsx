import { useState } from "preact/hooks";
import type { FirstStep } from "../../types/setup.ts";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import { ReasonText } from "../messages/reason.tsx";
import type { Say } from "./say.ts";
import { Studies } from "./studies.tsx";
import { deviceName } from "./device-name.ts";
import { ProblemNote } from "./problem-note.tsx";
import { t } from "./texts.ts";

/** Shows the first message that the agent received from the new device. */
export function FirstResult({ step, say }: { step: FirstStep; say: Say }) {
  const { device, profile, place, isFolder, problem, message } = step;
  return (
    <>
      <p role="status">{t("saved", { device })}</p>
      {message === null ? (
        <>
          <p class="instruction">{t(isFolder ? "exportOnce" : "sendOnce")}</p>
          <p>
            {t(isFolder ? "exportTo" : "sendTo")} <strong>{place}</strong>
          </p>
          <ProblemNote of={problem} />
        </>
      ) : (
        <>
          <p role="status">
            {t("arrived")} {t(STATES.find((one) => one === message.state) ?? "pending")}
          </p>
          {message.reason !== null && (
            <p class="quiet">
              <ReasonText of={message} />
            </p>
          )}
          {message.looksLike !== null && (
            <p class="note">{t("looksLike", { like: deviceName(message.looksLike), chosen: deviceName(profile) })}</p>
          )}
          <Studies studies={message.studies} />
        </>
      )}
      <ChangeProfile step={step} say={say} />
      <p class="actions">
        <button type="button" class="primary" onClick={() => void say({ to: "first", next: "finish" })}>
          {t("finish")}
        </button>
        <button type="button" onClick={() => void say({ to: "first", next: "another" })}>
          {t("another")}
        </button>
      </p>
    </>
  );
}

function ChangeProfile({ step: { profile, profiles, message }, say }: { step: FirstStep; say: Say }) {
  const like = message?.looksLike ?? null;
  const [chosen, setChosen] = useState<string | null>(null);
  const shown = chosen ?? like?.profile ?? profile.profile;
  if (profiles.length === 0) return null;
  return (
    <details open={like !== null}>
      <summary>{t("changeProfile")}</summary>
      <Field label={t("profile")} hint={t("changeHint")}>
        <select value={shown} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
          {profiles.map((each) => (
            <option key={each.profile} value={each.profile}>
              {deviceName(each)} ({each.profile})
            </option>
          ))}
        </select>
      </Field>
      <button
        type="button"
        disabled={shown === profile.profile}
        onClick={() => void say({ to: "first", profile: shown })}
      >
        {t("change")}
      </button>
    </details>
  );
}

const STATES = ["pending", "filed", "unmatched", "not-for-patients", "quarantined"] as const;
