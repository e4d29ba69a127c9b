import { useRoute } from "preact-iso";
import type { StudyPage, TimeLineEvent } from "../../../../dashboard/types/results/results.ts";
import { Loaded, useResource } from "../../../resource.tsx";
import { clinic } from "../../../session.ts";
import { dateTime } from "../../../text.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { studyWord } from "../../../ui/words/study-word.ts";
import { eventText } from "../study-history.tsx";
import { Gaps } from "./gaps.tsx";
import { t } from "./trail-texts.ts";
import "./trail.css";

/** The proof of delivery of one study: each step with its clock and digest, and what nothing shows. It prints as a page. */
export function Trail() {
  const { fp = "" } = useRoute().params;
  const study = useResource<StudyPage>(`/results/${encodeURIComponent(fp)}`);
  return <Loaded of={study}>{(data) => <Steps study={data} />}</Loaded>;
}

function Steps({ study: { fp, modality, device_name, time_line, gaps } }: { study: StudyPage }) {
  return (
    <article>
      <p class="print-only">{clinic.value?.name}</p>
      <div class="page-head">
        <div>
          <h1>{t("proof")}</h1>
          <p>
            <a href={`/dashboard/results/${fp}`}>{studyWord(modality)}</a>, {device_name}, <code>{fp}</code>
          </p>
        </div>
        <p class="actions no-print">
          <button type="button" onClick={() => window.print()}>
            {t("print")}
          </button>
        </p>
      </div>
      <p class="quiet">{t("proofWhy")}</p>
      <div class="card flush">
        <DataTable label={t("proof")} columns={[t("time"), t("clock"), t("step")]}>
          {time_line.map((event, index) => (
            <tr key={index}>
              <td>
                <time dateTime={event.at}>{dateTime(event.at)}</time>
                <code class="proof">{event.at}</code>
              </td>
              <td>{t(CLOCKS[event.kind])}</td>
              <td>
                {eventText(event)}
                {"sha256" in event && <code class="proof">SHA-256 {event.sha256}</code>}
              </td>
            </tr>
          ))}
        </DataTable>
      </div>
      <Gaps of={gaps} />
    </article>
  );
}

const CLOCKS = {
  sample: "clockDevice",
  received: "clockAgent",
  revision: "clockServer",
  conflict: "clockServer",
  command: "clockServer",
  delivery: "clockServer",
  handed: "clockServer",
  opened: "clockServer",
  read: "clockServer",
} as const satisfies Record<TimeLineEvent["kind"], string>;
