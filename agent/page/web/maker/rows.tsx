import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { AnalyteName, MakerRow, MakerSample, MessageView } from "../../types/maker.ts";
import { dateTime, language } from "../../../../server/web/text.ts";
import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import { DataTable } from "../../../../server/web/ui/list/data-table.tsx";
import { Facts } from "../../../../server/web/ui/status/facts.tsx";
import { studyWord } from "../../../../server/web/ui/words/study-word.ts";
import { roleWord, t } from "./texts.ts";

/** A row of a table's columns has no record, and is named by its code. */
type Map = (record: number, analyte: string, code: string) => void;

/** Shows the reading of the draft: the sample and its patient, then the rows. A row lights its record. */
export function Rows({
  view,
  record,
  choose,
  map,
}: {
  view: MessageView;
  /** The chosen record of this message; null for none. */
  record: number | null;
  choose: (record: number) => void;
  map: Map;
}) {
  const { sample, reason, rows, unread, notes } = view;
  const unknown = rows.filter(({ result }) => result !== null && result.analyte === null).length;
  return (
    <>
      {sample === null ? (
        <p class="note-bad" lang={reason === null ? undefined : "en"}>
          {reason ?? t("noResults")}
        </p>
      ) : (
        <SampleFacts of={sample} />
      )}
      {unread.length > 0 && (
        <p class="maker-unread">
          <strong>{`${t("unread", { count: unread.length })}:`}</strong>{" "}
          {unread.map(({ field, text }) => `${field} ${text}`).join(", ")}
        </p>
      )}
      {unknown > 0 && <p>{t("unknownCodes", { count: unknown })}</p>}
      {rows.length > 0 && (
        <DataTable
          label={t("rows")}
          class="cards"
          columns={[
            t("code"),
            t("analyte"),
            [t("value"), "number labelled"],
            [t("range"), "labelled"],
            [t("flag"), "labelled"],
            [t("printed"), "labelled"],
          ]}
        >
          {keyed(rows).map(({ key, row }) => (
            <Row
              key={key}
              row={row}
              isLit={row.record !== null && row.record === record}
              lang={language.value}
              choose={choose}
              map={map}
            />
          ))}
        </DataTable>
      )}
      {notes.length > 0 && (
        <details>
          <summary>{t("notes", { count: notes.length })}</summary>
          <ul lang="en">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Keys by record and code, so that what the user typed stays with its row when another role adds or removes rows. */
function keyed(rows: readonly MakerRow[]): readonly { key: string; row: MakerRow }[] {
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const name = `${row.record} ${row.code}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { key: `${name} ${count}`, row };
  });
}

function SampleFacts({ of }: { of: MakerSample }) {
  return (
    <Facts
      of={[
        [t("device"), `${of.device}, ${studyWord(of.modality)}`],
        [roleWord("identifier"), of.identifier],
        [roleWord("name"), of.name],
        [roleWord("owner"), of.owner],
        [roleWord("species"), of.species],
        [roleWord("sex"), of.sex],
        [roleWord("born"), of.born],
        [roleWord("sample"), of.sample.join(", ")],
        [roleWord("time"), dateTime(of.time)],
      ]}
    />
  );
}

interface RowProps {
  readonly row: MakerRow;
  readonly isLit: boolean;
  readonly lang: string;
  readonly choose: (record: number) => void;
  readonly map: Map;
}

function Row(props: RowProps) {
  const { row, isLit, lang } = props;
  return useMemo(() => <DrawnRow {...props} />, [JSON.stringify(row), isLit, lang]);
}

function DrawnRow({ row: { record, code, result, reason, rule, suggestions = [] }, isLit, choose, map }: RowProps) {
  const printed = useSignal("");
  const typed = printed.value.trim();
  const name = result?.code ?? (code || t("lineOf", { number: (record ?? 0) + 1 }));
  return (
    <tr class={`maker-row${isLit ? " lit" : ""}`} aria-current={isLit ? "true" : undefined}>
      <th scope="row">
        {record === null ? (
          name
        ) : (
          <button type="button" class="link" onClick={() => choose(record)}>
            {name}
          </button>
        )}
        {result?.label != null && result.label !== "" && <span class="quiet"> {result.label}</span>}
      </th>
      {result === null ? (
        <td colSpan={5} class="quiet">
          {rule === null ? null : `${t("byRule", { number: rule + 1 })} `}
          <span lang="en">{reason ?? ""}</span>
        </td>
      ) : (
        <>
          <td>
            {(result.analyte && nameIn(result.analyte)) ??
              (record === null && code === "" ? (
                t("notNamed")
              ) : (
                <MapCode {...{ suggestions }} map={(to) => map(record ?? 0, to, code)} code={result.code} />
              ))}
          </td>
          <td class="number">
            {result.text} <span class="quiet">{unitText(result.unit ?? "")}</span>
          </td>
          <td>{result.range ?? "–"}</td>
          <td>
            {result.flag ?? "–"}
            {result.comment !== null && <span class="doubt"> {result.comment}</span>}
          </td>
          <td>
            <input
              class="maker-printed"
              aria-label={t("printedOf", { code: result.code })}
              value={printed.value}
              maxLength={40}
              onInput={({ currentTarget }) => (printed.value = currentTarget.value)}
            />
            {typed !== "" && (
              <span class={typed === result.text ? "quiet" : "maker-differs"}>
                {typed === result.text ? t("agrees") : t("differs")}
              </span>
            )}
          </td>
        </>
      )}
    </tr>
  );
}

function nameIn({ en, tr }: AnalyteName): string {
  return language.value === "tr" ? tr : en;
}

function MapCode({
  code,
  suggestions,
  map,
}: {
  code: string;
  suggestions: NonNullable<MakerRow["suggestions"]>;
  map: (analyte: string) => void;
}) {
  const typed = useSignal("");
  return (
    <span class="maker-map">
      {suggestions.map((analyte) => (
        <button key={analyte.code} type="button" class="chip" onClick={() => map(analyte.code)}>
          {nameIn(analyte.name)}
        </button>
      ))}
      <input
        aria-label={t("analyteOf", { code })}
        placeholder={t("analyteCode")}
        value={typed.value}
        maxLength={40}
        onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        onKeyDown={({ key }) => {
          if (key === "Enter" && typed.value.trim() !== "") map(typed.value.trim().toUpperCase());
        }}
      />
    </span>
  );
}
