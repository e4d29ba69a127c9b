import { useState } from "preact/hooks";
import {
  isFailure,
  isReleased,
  markText,
  openFailures,
  studyQualityText,
  type StudyQuality,
} from "../../../../../shared/clinical/control/study-quality.ts";
import type { ReleaseBody, StudyPage } from "../../../../dashboard/types/results/results.ts";
import { call } from "../../../api.ts";
import { clinicPath, may } from "../../../session.ts";
import { dateTime, language, translations } from "../../../text.ts";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { clockTime, dayOf } from "../../../ui/words/words.ts";
import { Icon } from "../../../ui/status/icon.tsx";

interface NoticeProps {
  readonly study: StudyPage;
  readonly reload: () => Promise<void>;
}

/** The state of the device's controls when it measured the study, in one sentence, and who released it. It prints. */
export function ControlNotice({ study, reload }: NoticeProps) {
  const [isOpen, setOpen] = useState(false);
  const { quality } = study;
  const timeOf = (ms: number) => shortTime(ms, study.acquired_at);
  const text = quality && studyQualityText(quality, timeOf, language.value);
  if (quality === null || text === null) return null;
  const { released } = quality;
  return (
    <div class={`note marked ${toneOf(quality)}`.trimEnd()} role="status">
      <Icon of={quality.marks.some(isFailure) ? "bad" : "wait"} />
      <span>
        {t("control")}: {text}
        {released !== undefined && isReleased(quality) && (
          <>
            {" "}
            {t("released", {
              by: released.by,
              at: dateTime(new Date(released.at).toISOString()),
              reason: released.reason,
            })}
          </>
        )}
      </span>
      {study.can.release && may("staff") && (
        <button type="button" class="no-print" onClick={() => setOpen(true)}>
          {t("release")}
        </button>
      )}
      {isOpen && <ReleaseDialog study={study} reload={reload} close={() => setOpen(false)} />}
    </div>
  );
}

/** The failures that the user sees are sent with the reason: a control that comes meanwhile is not released unseen. */
function ReleaseDialog({ study, reload, close }: NoticeProps & { close: () => void }) {
  const [seen] = useState(() => study.quality?.marks.filter(isFailure).map(markText) ?? []);
  const release = async ({ reason = "" }: Record<string, string>) => {
    const body: ReleaseBody = { reason, seen };
    try {
      await call("POST", `${clinicPath()}/results/${study.fp}/release`, body);
    } finally {
      await reload();
    }
  };
  return (
    <FormDialog title={t("release")} close={close} act={release} button={t("release")}>
      <p>{t("releaseWhy")}</p>
      <Field label={t("reason")} hint={t("reasonHint")}>
        <input name="reason" required maxLength={200} autocomplete="off" />
      </Field>
    </FormDialog>
  );
}

function toneOf(quality: StudyQuality): string {
  if (openFailures(quality).length > 0) return "note-bad";
  return isReleased(quality) ? "note-good" : "";
}

/** The time alone on the day of the measurement. */
function shortTime(ms: number, measuredAt: string): string {
  const instant = new Date(ms).toISOString();
  return dayOf(instant) === dayOf(measuredAt) ? clockTime(instant) : dateTime(instant);
}

const t = translations({
  control: ["Quality control", "Kalite kontrol"],
  released: ["Released by {by}, {at}: {reason}.", "Serbest bırakan: {by}, {at}. Neden: {reason}."],
  release: ["Release the results", "Sonuçları serbest bırak"],
  releaseWhy: [
    "Values, ranges and flags stay as they are. Your name and the reason are on the page, in print and in the report.",
    "Değerler, aralıklar ve işaretler değişmez. Adınız ve neden sayfada, çıktıda ve raporda yer alır.",
  ],
  reason: ["Why the results may be used", "Sonuçlar neden kullanılabilir"],
  reasonHint: [
    "Such as: measured again after the control passed, same value",
    "Örneğin: kontrol uygun çıktıktan sonra yeniden ölçüldü, aynı değer",
  ],
});
