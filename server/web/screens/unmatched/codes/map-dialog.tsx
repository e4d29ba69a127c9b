import { unitText } from "../../../../../shared/clinical/units/unit-text.ts";
import { useState } from "preact/hooks";
import type { AnalyteChoice, DeviceCode, MapCodeBody } from "../../../../dashboard/types/results/codes.ts";
import { Loaded, useResource } from "../../../resource.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { t } from "./codes-texts.ts";
import { printedValue } from "../printed-value.ts";

interface MapDialogProps {
  readonly code: DeviceCode;
  readonly map: (body: MapCodeBody) => Promise<void>;
  readonly close: () => void;
}

/** The dialog for the analyte of a code. Analytes that fit the value come first. */
export function MapDialog({ code: seen, map, close }: MapDialogProps) {
  const { device_id, code } = seen;
  const query = new URLSearchParams({ device_id, code }).toString();
  const choices = useResource<{ analytes: AnalyteChoice[] }>(`/codes/analytes?${query}`);
  const [text, setText] = useState("");
  const [analyte, setAnalyte] = useState<string | undefined>(undefined);
  const save = async () => {
    if (analyte === undefined) return;
    await map({ device_id, code, analyte });
  };
  const button = analyte === undefined ? t("choose") : t("save", { analyte });
  return (
    <FormDialog
      title={t("mapTitle", { code })}
      close={close}
      act={save}
      button={button}
      isReady={analyte !== undefined}
    >
      <p>{t("lastSeen", { device: device_id, value: printedValue(seen) })}</p>
      <Field label={t("search")}>
        <input
          type="search"
          autocomplete="off"
          autofocus
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </Field>
      <Loaded of={choices}>
        {({ analytes }) => <Choices analytes={found(analytes, text)} chosen={analyte} choose={setAnalyte} />}
      </Loaded>
    </FormDialog>
  );
}

/** The analytes whose code or name contains each word of the text. */
function found(analytes: readonly AnalyteChoice[], text: string): AnalyteChoice[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return analytes.filter(({ code, name }) => words.every((word) => `${code} ${name}`.toLowerCase().includes(word)));
}

interface ChoicesProps {
  readonly analytes: readonly AnalyteChoice[];
  readonly chosen: string | undefined;
  readonly choose: (code: string) => void;
}

function Choices({ analytes, chosen, choose }: ChoicesProps) {
  if (analytes.length === 0) return <p class="quiet">{t("nothing")}</p>;
  const groups = [
    { title: t("fitting"), members: analytes.filter(({ fits }) => fits) },
    { title: t("others"), members: analytes.filter(({ fits }) => !fits) },
  ].filter(({ members }) => members.length > 0);
  return (
    <div class="unmatched-analytes" role="group" aria-label={t("choices")}>
      {groups.map(({ title, members }) => (
        <fieldset key={title}>
          <legend>{title}</legend>
          {members.map(({ code, name, specimen, unit }) => (
            <label key={code}>
              <input type="radio" name="analyte" value={code} checked={code === chosen} onChange={() => choose(code)} />
              <span>
                <strong>{code}</strong> {name}
                <span class="quiet"> {[specimen, unitText(unit ?? "")].filter(Boolean).join(" · ")}</span>
              </span>
            </label>
          ))}
        </fieldset>
      ))}
    </div>
  );
}
