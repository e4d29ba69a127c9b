import { useState } from "preact/hooks";
import type { CodeList, DeviceCode, MapCodeBody, MappedCode } from "../../../../dashboard/types/results/codes.ts";
import { call } from "../../../api.ts";
import { Empty, Loaded, Problem, useResource } from "../../../resource.tsx";
import { clinicPath, may } from "../../../session.ts";
import { ago, dateTime } from "../../../text.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { MovingRows } from "../../../ui/list/moving-rows.tsx";
import { timeValue } from "../../../ui/list/sort.ts";
import { useSorted } from "../../../ui/list/use-sorted.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { t } from "./codes-texts.ts";
import { MapDialog } from "./map-dialog.tsx";
import { Parts } from "../parts.tsx";
import { printedValue } from "../printed-value.ts";
import "../unmatched.css";

/** The devices' codes that the catalogue lacks, and the clinic's mappings. */
export function Codes() {
  const codes = useResource<CodeList>("/codes");
  const [mapped, setMapped] = useState<DeviceCode | undefined>(undefined);
  const { run, retry, error, isRunning } = useAction();

  async function map(body: MapCodeBody): Promise<void> {
    await call("PUT", `${clinicPath()}/codes`, body);
    await codes.reload();
  }

  return (
    <>
      <h1>{t("title")}</h1>
      <Parts at="codes" codes={codes.data?.unknown.length} />
      <p>{t("intro")}</p>
      <Loaded of={codes}>
        {(list) => (
          <>
            <h2>{t("unknown")}</h2>
            {list.unknown.length === 0 ? (
              <Empty title={t("none")}>{t("noneNext")}</Empty>
            ) : (
              <UnknownTable codes={list.unknown} map={setMapped} />
            )}
            <p class="quiet">{t("fromNow")}</p>
            <h2>{t("mapped")}</h2>
            {error !== undefined && <Problem error={error} retry={retry} />}
            {list.mapped.length === 0 ? (
              <p class="quiet">{t("noneMapped")}</p>
            ) : (
              <MovingRows>
                <MappedTable
                  codes={list.mapped}
                  isRunning={isRunning}
                  unmap={({ device_id, code }) => void run(() => map({ device_id, code, analyte: null }))}
                />
              </MovingRows>
            )}
          </>
        )}
      </Loaded>
      {mapped !== undefined && <MapDialog code={mapped} map={map} close={() => setMapped(undefined)} />}
    </>
  );
}

function CodeName({ code: { code, label } }: { code: Pick<DeviceCode, "code" | "label"> }) {
  return (
    <>
      <code>{code}</code>
      {label !== null && <span class="quiet"> {label}</span>}
    </>
  );
}

function UnknownTable({ codes, map }: { codes: readonly DeviceCode[]; map: (code: DeviceCode) => void }) {
  const { rows, column } = useSorted(codes, {
    code: ({ code }) => code,
    device: ({ device_id }) => device_id,
    results: ({ studies }) => studies,
    seen: ({ last_seen_at }) => timeValue(last_seen_at),
  });
  return (
    <DataTable
      label={t("unknownTable")}
      class="cards"
      columns={[
        column("code", t("code")),
        column("device", t("device")),
        [t("last"), "number labelled"],
        column("results", t("results"), "number labelled"),
        column("seen", t("seen"), "labelled"),
        may("staff") && t("action"),
      ]}
    >
      {rows.map((code) => (
        <tr key={`${code.device_id} ${code.code}`}>
          <th scope="row">
            <CodeName code={code} />
          </th>
          <td>{code.device_id}</td>
          <td class="number">{printedValue(code)}</td>
          <td class="number">{code.studies}</td>
          <td>
            {dateTime(code.first_seen_at)}
            <span class="quiet"> – {ago(code.last_seen_at)}</span>
          </td>
          {may("staff") && (
            <td>
              <button
                type="button"
                aria-label={t("mapLabel", { code: code.code, device: code.device_id })}
                onClick={() => map(code)}
              >
                {t("map")}
              </button>
            </td>
          )}
        </tr>
      ))}
    </DataTable>
  );
}

interface MappedTableProps {
  readonly codes: readonly MappedCode[];
  readonly isRunning: boolean;
  readonly unmap: (code: MappedCode) => void;
}

function MappedTable({ codes, isRunning, unmap }: MappedTableProps) {
  return (
    <DataTable
      label={t("mappedTable")}
      class="cards"
      columns={[t("code"), t("device"), t("analyte"), t("state"), t("mappedBy"), may("staff") && t("action")]}
    >
      {codes.map((mapped) => (
        <tr key={`${mapped.device_id} ${mapped.code}`}>
          <th scope="row">
            <CodeName code={mapped.seen ?? { ...mapped, label: null }} />
          </th>
          <td>{mapped.device_id}</td>
          <td>{mapped.analyte}</td>
          <td>{stateOf(mapped)}</td>
          <td>{t("by", { when: dateTime(mapped.mapped_at), name: mapped.by })}</td>
          {may("staff") && (
            <td>
              <button
                type="button"
                disabled={isRunning}
                aria-label={t("unmapLabel", { code: mapped.code, device: mapped.device_id })}
                onClick={() => unmap(mapped)}
              >
                {t("unmap")}
              </button>
            </td>
          )}
        </tr>
      ))}
    </DataTable>
  );
}

/** A code leaves this list with the first result that is stored under its analyte. */
function stateOf({ code, seen, mapped_at }: MappedCode): string {
  if (seen === null) return t("inUse");
  if (seen.last_seen_at <= mapped_at) return t("waits");
  return t("stillSeen", { code, when: ago(seen.last_seen_at) });
}
