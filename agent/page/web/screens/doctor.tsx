import type { DoctorBody, TitledFinding } from "../../types/doctor.ts";
import { Empty, Loaded, useLocalOnce } from "../../../../server/web/resource.tsx";
import { doctorText } from "../../types/words/doctor-words.ts";
import { language, translations } from "../../../../server/web/text.ts";
import { Need, NeedList } from "../../../../server/web/ui/list/needs.tsx";
import { Badge } from "../../../../server/web/ui/status/badge.tsx";
import "./doctor.css";

/** Shows the faults of this machine's set-up, each with its remedy. */
export function Doctor() {
  const answer = useLocalOnce<DoctorBody>("/doctor");
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t("doctor")}</h1>
          <p>{t("bundleHint")}</p>
        </div>
        <div class="actions">
          <button type="button" disabled={answer.isLoading} onClick={() => void answer.reload()}>
            {answer.isLoading ? t("checking") : t("again")}
          </button>
          <a class="button" href="/local/v1/doctor/bundle" download>
            {t("bundle")}
          </a>
        </div>
      </div>
      <Loaded of={answer}>{({ findings }) => <Findings findings={findings} />}</Loaded>
    </>
  );
}

function Findings({ findings }: { findings: readonly TitledFinding[] }) {
  const of = (status: TitledFinding["status"]) => findings.filter((finding) => finding.status === status);
  const wrong = [...of("problem"), ...of("warning")];
  return (
    <>
      {wrong.length === 0 ? (
        <Empty title={t("allRight")} />
      ) : (
        <NeedList>
          <ul class="doctor-list" aria-label={t("found")}>
            {wrong.map((finding, index) => (
              <Wrong key={index} finding={finding} />
            ))}
          </ul>
        </NeedList>
      )}
      <details class="card">
        <summary>{t("right", { count: of("ok").length })}</summary>
        <ul>
          {of("ok").map(({ sentence }, index) => (
            <li key={index}>
              <Words of={sentence} />
            </li>
          ))}
        </ul>
      </details>
      <details class="card">
        <summary>{t("skipped", { count: of("skipped").length })}</summary>
        <ul>
          {of("skipped").map(({ check, sentence }, index) => (
            <li key={index}>
              <Words of={check} />: <Words of={sentence} />
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function Wrong({ finding: { check, status, sentence, remedy } }: { finding: TitledFinding }) {
  const isProblem = status === "problem";
  return (
    <Need
      icon="bad"
      tone={isProblem ? "positive" : "warn"}
      what={
        <>
          <strong>
            <Words of={check} />
          </strong>{" "}
          <Badge tone={isProblem ? "warning" : "active"}>{t(isProblem ? "problem" : "warning")}</Badge>{" "}
          <Words of={sentence} />
        </>
      }
      why={
        remedy === null ? undefined : (
          <>
            <b>{t("todo")}</b> <Words of={remedy} />
          </>
        )
      }
    />
  );
}

/** Words of the doctor in the page's language, else in English. */
function Words({ of }: { of: string }) {
  const words = doctorText(of, language.value);
  return words === null ? <span lang="en">{of}</span> : <span>{words}</span>;
}

const t = translations({
  doctor: ["Doctor", "Kurulum denetimi"],
  again: ["Check again", "Yeniden denetle"],
  checking: ["Checking, up to a minute", "Denetleniyor, bir dakika sürebilir"],
  bundle: ["File for the support", "Destek dosyası"],
  bundleHint: [
    "The file has no names of patients and owners, no keys and no results.",
    "Dosyada hasta ve sahip adları, anahtarlar ve sonuçlar yoktur.",
  ],
  found: ["What needs you", "Sizi bekleyenler"],
  allRight: ["Everything is right", "Her şey yolunda"],
  right: ["{count} {count|check is|checks are} right", "{count} denetim sorunsuz"],
  skipped: ["{count} {count|check was|checks were} skipped", "{count} denetim atlandı"],
  problem: ["Problem", "Sorun"],
  warning: ["Warning", "Uyarı"],
  todo: ["What to do:", "Yapılacak:"],
});
