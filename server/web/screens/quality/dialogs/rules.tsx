import { useState } from "preact/hooks";
import type { RulesBody, SeriesBody } from "../../../../dashboard/types/quality.ts";
import type { Rule, RuleChoice } from "../../../../../shared/clinical/control/types.ts";
import { ruleText } from "../../../../../shared/clinical/control/words.ts";
import { call } from "../../../api.ts";
import { Problem } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { language } from "../../../text.ts";
import { Field } from "../../../ui/form/field.tsx";
import { useAction } from "../../../ui/form/use-action.ts";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { t } from "./texts.ts";

const RULES: readonly Rule[] = ["1-2s", "1-3s", "2-2s", "R-4s", "4-1s", "10x"];

/** Chooses which rules judge an analyte: each rejects, warns or is off. */
export function ChangeRules({
  analyte,
  title,
  rules,
  close,
  reload,
}: {
  analyte: string;
  /** The analyte with its name. */
  title: string;
  rules: SeriesBody["rules"];
  close: () => void;
  reload: () => Promise<void>;
}) {
  // The rules of the opening: the server refuses to replace others.
  const [{ choice, why, at: seen }] = useState(rules);
  const { run, error, isRunning } = useAction();
  const put = async (body: RulesBody) => {
    await call("PUT", `${clinicPath()}/quality/rules`, body);
    await reload();
  };
  const save = (fields: Record<string, string>) => {
    const chosen = RULES.map((rule) => [rule, fields[rule]]).filter(([, each]) => each !== "off");
    return put({ analyte, choice: Object.fromEntries(chosen) as RuleChoice, seen });
  };
  const reset = (dialog: HTMLDialogElement | null) =>
    void run(() => put({ analyte, choice: null, seen })).then((isDone) => isDone && dialog?.close());
  return (
    <FormDialog title={t("rulesTitle", { analyte: title })} close={close} act={save} button={t("rulesButton")}>
      <p class="quiet">
        {t("rulesWhy")} {t("marksStay")}
      </p>
      {RULES.map((rule) => (
        <Field key={rule} label={rule} hint={ruleText(rule, language.value)}>
          <select name={rule}>
            {(["reject", "warn", "off"] as const).map((each) => (
              <option key={each} value={each} selected={(choice[rule] ?? "off") === each}>
                {t(({ reject: "rejects", warn: "warns", off: "isOff" } as const)[each])}
              </option>
            ))}
          </select>
        </Field>
      ))}
      {why === "clinic" && (
        <p>
          <button
            type="button"
            disabled={isRunning}
            onClick={({ currentTarget }) => reset(currentTarget.closest("dialog"))}
          >
            {t("rulesReset")}
          </button>
        </p>
      )}
      {error !== undefined && <Problem error={error} />}
    </FormDialog>
  );
}
