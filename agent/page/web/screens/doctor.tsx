import type { DoctorBody, TitledFinding } from "../../types/doctor.ts";
import { Empty, Loaded, useLocalOnce } from "../../../../server/web/resource.tsx";
import { texts } from "../../../../server/web/text.ts";
import { Badge } from "../../../../server/web/ui/status/badge.tsx";
import "./doctor.css";

/** Shows the faults of this machine's set-up, each with its remedy. */
export function Doctor() {
  const answer = useLocalOnce<DoctorBody>("/doctor");
  return (
    <>
      <h1>{t("doctor")}</h1>
      <div class="actions doctor-actions">
        <button type="button" disabled={answer.isLoading} onClick={() => void answer.reload()}>
          {answer.isLoading ? t("checking") : t("again")}
        </button>
        <a href="/local/v1/doctor/bundle" download>
          {t("bundle")}
        </a>
      </div>
      <p class="quiet">{t("bundleHint")}</p>
      <Loaded of={answer}>{({ findings }) => <Findings findings={findings} />}</Loaded>
    </>
  );
}

function Findings({ findings }: { findings: readonly TitledFinding[] }) {
  const of = (status: TitledFinding["status"]) => findings.filter((finding) => finding.status === status);
  const wrong = [...of("problem"), ...of("warning")];
  return (
    <>
      {wrong.length === 0 && <Empty title={t("allRight")} />}
      <ul class="plain-list doctor-list" aria-label={t("found")}>
        {wrong.map((finding, index) => (
          <Wrong key={index} finding={finding} />
        ))}
      </ul>
      <details class="card">
        <summary>{t("right", { count: of("ok").length })}</summary>
        <ul>
          {of("ok").map(({ sentence }, index) => (
            <li key={index}>{sentence}</li>
          ))}
        </ul>
      </details>
      <details class="card">
        <summary>{t("skipped", { count: of("skipped").length })}</summary>
        <ul>
          {of("skipped").map(({ check, sentence }, index) => (
            <li key={index}>
              {check}: {sentence}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function Wrong({ finding: { check, status, sentence, remedy } }: { finding: TitledFinding }) {
  return (
    <li class="card">
      <h2>{check}</h2>
      <p>
        <Badge tone={status === "problem" ? "warning" : "active"}>
          {t(status === "problem" ? "problem" : "warning")}
        </Badge>{" "}
        {sentence}
      </p>
      {remedy !== null && (
        <p>
          <strong>{t("todo")}</strong> {remedy}
        </p>
      )}
    </li>
  );
}

const t = texts(
  {
    doctor: "Doctor",
    again: "Check again",
    checking: "Checking, up to a minute",
    bundle: "File for the support",
    bundleHint: "The file has no names of patients and owners, no keys and no results.",
    found: "What needs you",
    allRight: "Everything is right",
    right: "{count} checks are right",
    skipped: "{count} checks were skipped",
    problem: "Problem",
    warning: "Warning",
    todo: "What to do:",
  },
  {
    doctor: "Kurulum denetimi",
    again: "Yeniden denetle",
    checking: "Denetleniyor, bir dakika sürebilir",
    bundle: "Destek dosyası",
    bundleHint: "Dosyada hasta ve sahip adları, anahtarlar ve sonuçlar yoktur.",
    found: "Sizi bekleyenler",
    allRight: "Her şey yolunda",
    right: "{count} denetim sorunsuz",
    skipped: "{count} denetim atlandı",
    problem: "Sorun",
    warning: "Uyarı",
    todo: "Yapılacak:",
  },
);
