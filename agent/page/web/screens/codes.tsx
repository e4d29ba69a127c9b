import { useSignal } from "@preact/signals";
import type { LocalApplied } from "../../types/configuration.ts";
import type { LocalCode, LocalCodes } from "../../types/queue.ts";
import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import { call } from "../../../../server/web/api.ts";
import { Empty, Loaded, useLocal } from "../../../../server/web/resource.tsx";
import { DataTable } from "../../../../server/web/ui/list/data-table.tsx";
import { useSorted } from "../../../../server/web/ui/list/use-sorted.ts";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import { CloseButton, Dialog } from "../../../../server/web/ui/form-dialog/dialog.tsx";
import { FormDialog } from "../../../../server/web/ui/form-dialog/form-dialog.tsx";
import { t } from "./codes-texts.ts";

/** The codes of devices that the catalogue lacks, with an example of each. Mapping one changes the configuration. */
export function Codes() {
  const list = useLocal<LocalCodes>("/codes");
  const chosen = useSignal<LocalCode | null>(null);
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t("codes")}</h1>
          <p>{t("why")}</p>
        </div>
      </div>
      <Loaded of={list}>
        {({ codes, mark }) => (
          <>
            {codes.length === 0 ? (
              <Empty title={t("none")}>{t("noneNext")}</Empty>
            ) : (
              <CodeTable codes={codes} choose={(code) => (chosen.value = code)} />
            )}
            {chosen.value !== null && (
              <MapDialog code={chosen.value} mark={mark} close={() => (chosen.value = null)} done={list.reload} />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

function CodeTable({ codes, choose }: { codes: readonly LocalCode[]; choose: (code: LocalCode) => void }) {
  const { rows, column } = useSorted(codes, {
    code: ({ code }) => code,
    device: ({ device }) => device,
    results: ({ count }) => count,
  });
  return (
    <DataTable
      label={t("codes")}
      class="cards"
      columns={[
        column("code", t("code")),
        column("device", t("device")),
        [t("example"), "labelled"],
        column("results", t("results"), "number labelled"),
        t("analyte"),
      ]}
    >
      {rows.map((one) => (
        <tr key={`${one.device} ${one.code}`}>
          <th scope="row">
            {one.code} <span class="quiet">{one.label}</span>
          </th>
          <td>{one.device}</td>
          <td>{`${one.last_value ?? "–"} ${unitText(one.last_unit ?? "")}`}</td>
          <td class="number">{one.count}</td>
          <td>
            {one.mapped_to ?? (
              <button type="button" onClick={() => choose(one)}>
                {t("map", { code: one.code })}
              </button>
            )}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function MapDialog({
  code: { device, code, suggestions },
  mark,
  close,
  done,
}: {
  code: LocalCode;
  mark: string;
  close: () => void;
  done: () => Promise<void>;
}) {
  const outcome = useSignal<LocalApplied | null>(null);
  // The configuration as it was when the dialog opened: the agent refuses to change another.
  const seen = useSignal(mark);
  const analyte = useSignal(suggestions[0] ?? "");
  const map = async () => {
    const body = { device, code, analyte: analyte.value.trim(), mark: seen.value };
    outcome.value = await call<LocalApplied>("POST", "/codes", body);
    if (outcome.value.outcome === "applied") await done();
  };
  if (outcome.value?.outcome === "applied") {
    return (
      <Dialog title={t("map", { code })} close={close} foot={<CloseButton />}>
        <p role="status">{t("applied")}</p>
        <a href="/messages?state=unmatched">{t("again")}</a>
      </Dialog>
    );
  }
  return (
    <FormDialog title={t("map", { code })} close={close} act={map} button={t("apply")} leave={t("close")} staysOpen>
      <Field label={t("analyte")} hint={t("hint")}>
        <input
          value={analyte.value}
          required
          maxLength={200}
          autocomplete="off"
          onInput={({ currentTarget }) => (analyte.value = currentTarget.value)}
        />
      </Field>
      {suggestions.length > 0 && (
        <p class="actions">
          {t("perhaps")}
          {suggestions.map((name) => (
            <button key={name} type="button" onClick={() => (analyte.value = name)}>
              {name}
            </button>
          ))}
        </p>
      )}
      <p>{t("line", { device })}</p>
      <pre>{`codes: { ${JSON.stringify(code)}: ${analyte.value.trim() || "…"} }`}</pre>
      {outcome.value !== null && <NotApplied of={outcome.value} />}
    </FormDialog>
  );
}

function NotApplied({ of }: { of: LocalApplied }) {
  const reasons =
    of.outcome === "refused" ? of.problems.map(({ message }) => message) : of.outcome === "applied" ? [] : [of.reason];
  return (
    <div class="problem" role="alert">
      <strong>{t("notApplied")}</strong>
      {reasons.map((reason) => (
        <p key={reason} lang="en">
          {reason}
        </p>
      ))}
    </div>
  );
}
