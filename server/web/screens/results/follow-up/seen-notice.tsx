import type { FollowUp } from "../../../../dashboard/types/results/follow-up.ts";
import type { StudyPage } from "../../../../dashboard/types/results/results.ts";
import { Problem, type Resource } from "../../../resource.tsx";
import { may } from "../../../session.ts";
import { dateTime } from "../../../text.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { markSeen } from "../../today/seen.ts";
import { t } from "./texts.ts";
import "./follow-up.css";

interface NoticeProps {
  readonly study: Pick<StudyPage, "fp" | "revision" | "rows">;
  readonly followUp: Resource<FollowUp>;
}

/** Asks for "I have seen it" of a critical value: opening the page is not enough. Then it says who saw it. */
export function SeenNotice({ study, followUp: { data, reload } }: NoticeProps) {
  if (data === undefined || !isCritical(study)) return null;
  return <NotSeen study={study} seen={data.seen} reload={reload} />;
}

/** Whether a click has to say that a person saw the study. */
export function isCritical({ rows }: Pick<StudyPage, "rows">): boolean {
  return rows.some(({ flag }) => flag === "critical");
}

function NotSeen({
  study,
  seen,
  reload,
}: Pick<NoticeProps, "study"> & { seen: FollowUp["seen"]; reload: () => Promise<void> }) {
  const { run, retry, error, isRunning } = useAction();
  if (seen !== null) {
    return (
      <p class="quiet no-print" role="status">
        {t("seenBy", { name: seen.by, at: dateTime(seen.at) })}
      </p>
    );
  }
  const values = study.rows.filter(({ flag }) => flag === "critical");
  return (
    <div class="note note-bad not-seen no-print" role="status">
      <span class="grow">
        <strong>
          {values.map(({ analyte, value, unit }) => `${analyte} ${value} ${unit ?? ""}`.trim()).join(", ")}
        </strong>{" "}
        {t("critical")}
      </span>
      {may("staff") && (
        <button
          type="button"
          disabled={isRunning}
          onClick={() => void run(() => markSeen(study.fp, study.revision).then(reload))}
        >
          {t("seen")}
        </button>
      )}
      {error !== undefined && <Problem error={error} retry={retry} />}
    </div>
  );
}
