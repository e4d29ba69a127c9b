import type { ComponentChildren } from "preact";
import type { UnmatchedDetails } from "../../../dashboard/types/results/unmatched.ts";
import { doubtText } from "../../../../shared/clinical/device-words/device-words.ts";
import { commentText } from "../../../dashboard/types/results/sample-indices.ts";
import { dateTime, language } from "../../text.ts";
import { filingReason } from "../../ui/words/reasons.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Facts } from "../../ui/status/facts.tsx";
import { Icon } from "../../ui/status/icon.tsx";
import { t } from "./texts.ts";

/** The left side: the device's data of the animal, and its results. */
export function DeviceSaid({ study }: { study: UnmatchedDetails }) {
  const { hint, reason, results, comments } = study;
  const facts: [string, ComponentChildren][] = [
    [t("name"), hint?.name && <strong key="name">{hint.name}</strong>],
    [
      t("number"),
      hint?.identifier && (
        <strong key="number" class="unmatched-number">
          {hint.identifier}
        </strong>
      ),
    ],
    [t("species"), hint?.species],
    [t("breed"), hint?.breed],
    [t("sex"), hint?.sex],
    [t("owner"), hint?.owner],
    [t("dateOfBirth"), hint?.date_of_birth],
    [t("weight"), hint?.weight_kg == null ? null : `${hint.weight_kg} kg`],
    [t("sample"), study.sample_ids.join(", ") || null],
    [t("device"), study.device_id === null ? study.device_name : `${study.device_name} (${study.device_id})`],
    [t("measured"), dateTime(study.acquired_at)],
    [t("received"), dateTime(study.received_at)],
    [
      t("comments"),
      comments.length === 0
        ? null
        : comments.map((comment, index) => <div key={index}>{commentText(comment, language.value)}</div>),
    ],
  ];
  const others = hint?.other ?? [];
  return (
    <section class="card" aria-labelledby="unmatched-said">
      <h2 id="unmatched-said">{t("said")}</h2>
      {reason !== null && (
        <p class="note marked">
          <Icon of="bad" /> <span class="visually-hidden">{t("why")}: </span>
          <span class="unmatched-why">{filingReason(reason)}</span>
        </p>
      )}
      <Facts of={facts} inColumn />
      {others.length > 0 && (
        // Unassigned texts are labelled with their field of the device's message.
        <details class="unmatched-others">
          <summary class="quiet">{t("others")}</summary>
          <Facts of={others.map(({ field, text }): [string, string] => [field, text])} inColumn />
        </details>
      )}
      {results.length === 0 ? <p class="quiet">{t("noResults")}</p> : <DeviceResults study={study} />}
    </section>
  );
}

function DeviceResults({ study: { results } }: { study: UnmatchedDetails }) {
  const hasOwn = results.some(({ device_range, device_flag }) => device_range !== null || device_flag !== null);
  return (
    <>
      <p class="quiet unmatched-caption">{t("results")}</p>
      <DataTable
        label={t("results")}
        class="dense unmatched-table"
        columns={[
          t("analyte"),
          [t("value"), "number"],
          t("unit"),
          hasOwn && t("deviceRange"),
          hasOwn && t("deviceFlag"),
        ]}
      >
        {results.map(({ analyte, label, value, unit, device_range, device_flag, comment }, index) => (
          <tr key={index}>
            <th scope="row">
              {analyte}
              {label !== null && <span class="quiet"> {label}</span>}
            </th>
            <td class="number">
              {value}
              {comment !== null && <span class="quiet unmatched-doubt">{doubtText(comment, language.value)}</span>}
            </td>
            <td class="quiet">{unit}</td>
            {hasOwn && <td class="quiet">{device_range}</td>}
            {hasOwn && <td>{device_flag}</td>}
          </tr>
        ))}
      </DataTable>
    </>
  );
}
