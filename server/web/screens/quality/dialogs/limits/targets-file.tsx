import { useState } from "preact/hooks";
import type { TargetFile, TargetFileBody } from "../../../../../dashboard/types/quality.ts";
import { call } from "../../../../api.ts";
import { Problem } from "../../../../resource.tsx";
import { clinicPath } from "../../../../session.ts";
import { Field } from "../../../../ui/form/field.tsx";
import { useAction } from "../../../../ui/form/use-action.ts";
import { FormDialog } from "../../../../ui/form-dialog/form-dialog.tsx";
import { DataTable } from "../../../../ui/list/data-table.tsx";
import { targetText } from "../../words/numbers.ts";
import { t } from "../texts.ts";

/** Reads limits of several series from a CSV file. A file with faults stores nothing; each fault names its line. */
export function TargetsFile({
  device,
  close,
  reload,
}: {
  device: string;
  close: () => void;
  reload: () => Promise<void>;
}) {
  const { run, error, isRunning } = useAction();
  const [read, setRead] = useState<{ text: string; found: TargetFile } | null>(null);
  const send = (text: string, preview: boolean) => {
    const body: TargetFileBody = { device_id: device, text, preview };
    return call<TargetFile>("POST", `${clinicPath()}/quality/targets/file`, body);
  };
  const preview = (file: File | undefined) => {
    setRead(null);
    if (file === undefined) return;
    void run(async () => {
      const text = await file.text();
      setRead({ text, found: await send(text, true) });
    });
  };
  const save = async () => {
    if (read === null) return;
    await send(read.text, false);
    await reload();
  };
  const count = read?.found.targets.length ?? 0;
  const isReady = read !== null && read.found.faults.length === 0 && count > 0;
  return (
    <FormDialog
      title={t("fileTitle")}
      close={close}
      act={save}
      button={isReady ? t("fileButton", { count }) : t("fileNone")}
      isReady={isReady}
    >
      <p>
        {t("fileWhy", { device })} <code>analyte,unit,level,lot,mean,sd,expires</code>. {t("fileOr")}{" "}
        <code>low,high,factor</code>
      </p>
      <Field label={t("file")}>
        <input
          type="file"
          accept=".csv,.txt"
          disabled={isRunning}
          onChange={({ currentTarget }: { currentTarget: HTMLInputElement }) => preview(currentTarget.files?.[0])}
        />
      </Field>
      {error !== undefined && <Problem error={error} />}
      {read !== null && <Found of={read.found} />}
    </FormDialog>
  );
}

function Found({ of: { targets, faults } }: { of: TargetFile }) {
  if (faults.length > 0) {
    return (
      <div class="problem" role="alert">
        <strong>{t("faults", { count: faults.length })}</strong>
        <ul>
          {faults.map(({ line, column, code, value }, index) => {
            const fault = t(code === "factor" ? "factorFault" : code, { value });
            return (
              <li key={index}>
                {column === null ? t("faultOfLine", { line, fault }) : t("faultAt", { line, column, fault })}
              </li>
            );
          })}
        </ul>
      </div>
    );
  }
  return (
    <DataTable
      label={t("found")}
      class="dense cards"
      columns={[t("analyte"), [t("level"), "labelled"], [t("lot"), "labelled"], [t("target"), "number labelled"]]}
    >
      {targets.map((each) => (
        <tr key={each.line}>
          <th scope="row">{each.analyte}</th>
          <td>{each.level}</td>
          <td>{each.lot}</td>
          <td class="number">
            {targetText(each)} {each.unit}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
