import { useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import type { LocalMessage } from "../../types/messages.ts";
import { dateTime } from "../../../../server/web/text.ts";
import { DataTable } from "../../../../server/web/ui/list/data-table.tsx";
import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import { Facts } from "../../../../server/web/ui/status/facts.tsx";
import { State } from "../../../../server/web/ui/status/status-card.tsx";
import { word } from "../../../../server/web/ui/words/words.ts";
import { studyWord } from "../../../../server/web/ui/words/study-word.ts";
import { LocalResults } from "./local-results.tsx";
import { ReasonText } from "./reason.tsx";
import { stateTone, stateWord, t } from "./texts.ts";

// The panes of a message. Every text of a device is shown as text.

export function RawPane({ message: { raw, is_image } }: { message: LocalMessage }) {
  const isHex = useSignal(false);
  return (
    <section class="card">
      <h2>{t("raw")}</h2>
      {is_image ? (
        <p>{t("image")}</p>
      ) : (
        <>
          <p class="actions">
            <button type="button" aria-pressed={!isHex.value} onClick={() => (isHex.value = false)}>
              {t("asText")}
            </button>
            <button type="button" aria-pressed={isHex.value} onClick={() => (isHex.value = true)}>
              {t("asHex")}
            </button>
            <span class="quiet">
              {raw.shown < raw.length
                ? t("cut", { shown: raw.shown, count: raw.length })
                : t("bytes", { count: raw.length })}
            </span>
          </p>
          <pre class="wire" tabIndex={0} role="region" aria-label={t("raw")}>
            {(isHex.value ? raw.hex : raw.text).join("\n")}
          </pre>
        </>
      )}
    </section>
  );
}

export function ReportPane({ report }: { report: LocalMessage["report"] }) {
  return (
    <section class="card">
      <h2>{t("report")}</h2>
      {report.reports.length === 0 && <p>{t("noReport")}</p>}
      {report.reason !== null && (
        <p class="message-text">
          <ReasonText of={report} />
        </p>
      )}
      {report.reports.map((one, index) => (
        <div key={index}>
          <Facts
            inColumn
            of={[
              [t("device"), `${one.device_name}, ${studyWord(one.modality)}`],
              [t("measured"), dateTime(one.acquired_at)],
              [t("identifier"), one.identifier],
              [t("name"), one.name],
              [t("species"), one.species === null ? null : word(one.species)],
              [t("sample"), one.sample_ids.join(", ")],
            ]}
          />
          <Table
            label={labelOf(t("report"), index)}
            head={[t("code"), t("value"), t("unit"), t("deviceRange"), t("deviceFlag")]}
            rows={one.rows.map(({ code, device_code, text, unit, device_range, device_flag }) => [
              device_code === null || device_code === code ? code : `${code} (${device_code})`,
              text,
              unitText(unit ?? ""),
              device_range,
              device_flag,
            ])}
          />
          {one.notes.length > 0 && (
            <>
              <h3>{t("notes")}</h3>
              <ul class="message-text">
                {one.notes.map((note, place) => (
                  <li key={place}>
                    <ReasonText of={{ reason: note }} />
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      ))}
    </section>
  );
}

/** A document for people: its text is shown and searched, and no value is read from it. */
export function DocumentPane({ document: { name, text } }: { document: NonNullable<LocalMessage["document"]> }) {
  return (
    <section class="card">
      <h2>{t("document")}</h2>
      <p>{name}</p>
      <p class="quiet">{text === "" ? t("documentWithoutText") : t("documentText")}</p>
      {text !== "" && (
        <pre class="wire prose" tabIndex={0} role="region" aria-label={t("document")}>
          {text}
        </pre>
      )}
    </section>
  );
}

/** The studies as they are filed: whose they are, then the values. */
export function StudyPane({ studies }: { studies: LocalMessage["studies"] }) {
  return (
    <>
      {studies.map(({ fp, revision, state, reason, patient_fp, modality, acquired_at, results }, index) => (
        <section key={fp} class="card flush" aria-label={labelOf(t("study"), index)}>
          <div class="card-head">
            <h2>{studyWord(modality)}</h2>
            <State tone={stateTone(state)}>{stateWord(state)}</State>
          </div>
          {results.length > 0 && <LocalResults label={labelOf(t("results"), index)} results={results} />}
          <div class="card-foot message-text">
            {reason !== null && (
              <p>
                <ReasonText of={{ reason }} />
              </p>
            )}
            <Facts
              of={[
                [t("patient"), patient_fp ?? t("noPatient")],
                [t("measured"), dateTime(acquired_at)],
                [t("studyName"), `${fp}, ${t("revision", { revision })}`],
              ]}
            />
          </div>
        </section>
      ))}
    </>
  );
}

/** Landmarks of a page have different names. */
export function labelOf(label: string, index: number): string {
  return index === 0 ? label : `${label} (${index + 1})`;
}

export function Table({
  label,
  head,
  rows,
}: {
  label: string;
  head: string[];
  rows: readonly (readonly ComponentChild[])[];
}) {
  if (rows.length === 0) return null;
  return (
    <DataTable
      label={label}
      class="dense cards"
      columns={head.map((name, place) => (place === 0 ? name : [name, "labelled"]))}
    >
      {rows.map(([first, ...cells], index) => (
        <tr key={index}>
          <th scope="row">{first}</th>
          {cells.map((cell, place) => (
            <td key={place}>{cell}</td>
          ))}
        </tr>
      ))}
    </DataTable>
  );
}
