import { useState } from "preact/hooks";
import type { ControlQuestion } from "../../../dashboard/types/quality.ts";
import { may } from "../../session.ts";
import { ago } from "../../text.ts";
import { Need } from "../../ui/list/needs.tsx";
import { AnswerQuestion } from "./dialogs/answer.tsx";
import { t } from "./words/texts.ts";

/** Samples of devices whose material, level or lot nobody has named yet. Their runs have no chart before. */
export function Questions({
  questions,
  reload,
}: {
  questions: readonly ControlQuestion[];
  reload: () => Promise<void>;
}) {
  const [open, setOpen] = useState<ControlQuestion | null>(null);
  if (questions.length === 0) return null;
  return (
    <section class="card flush needs" aria-labelledby="questions">
      <div class="card-head">
        <h2 id="questions">{t("questions")}</h2>
      </div>
      <ul>
        {questions.map((question, index) => {
          const { device_id, device_name, sample, level, runs, last_at } = question;
          return (
            <Need
              key={`${device_id} ${sample} ${level}`}
              icon="tube"
              tone="warn"
              what={<strong>{t("question", { device: device_name, sample })}</strong>}
              why={t("questionWhy", { count: runs, ago: ago(last_at) })}
            >
              {may("staff") && (
                <button
                  type="button"
                  class={index === 0 ? "primary" : undefined}
                  aria-label={t("answerOf", { sample, device: device_name })}
                  onClick={() => setOpen(question)}
                >
                  {t("answer")}
                </button>
              )}
            </Need>
          );
        })}
      </ul>
      {open !== null && <AnswerQuestion question={open} close={() => setOpen(null)} reload={reload} />}
    </section>
  );
}
