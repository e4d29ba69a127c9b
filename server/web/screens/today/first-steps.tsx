import { DECIDED_STEP, type FirstStep } from "../../../dashboard/types/results/today.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { translations } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { Need } from "../../ui/list/needs.tsx";
import type { IconName } from "../../ui/status/icon.tsx";

/** The pages that do a step, the usual one first. */
const pages: Record<FirstStep, readonly { path: string; text: Exclude<keyof typeof words, "skipOf"> }[]> = {
  animals: [
    { path: "/dashboard/patients/import", text: "importList" },
    { path: "/dashboard/patients/new", text: "newAnimal" },
    { path: "/dashboard/settings/keys", text: "program" },
  ],
  pc: [{ path: "/dashboard/devices", text: "addPc" }],
  team: [{ path: "/dashboard/settings/users", text: "invite" }],
  notifications: [{ path: "/dashboard/settings/notifications", text: "choose" }],
  ranges: [{ path: "/dashboard/settings/ranges", text: "look" }],
  limits: [{ path: "/dashboard/settings/ranges#critical-limits", text: "decide" }],
};

const icons: Record<FirstStep, IconName> = {
  animals: "plus",
  pc: "device",
  team: "person",
  notifications: "bad",
  ranges: "file",
  limits: "file",
};

/** Shows an admin what a new clinic does before its first result. Each step goes when it is done or skipped. */
export function FirstSteps({ steps, reload }: { steps: readonly FirstStep[]; reload: () => Promise<void> }) {
  const { run, retry, error } = useAction();
  const skip = (step: FirstStep) =>
    run(async () => {
      await call("POST", `${clinicPath()}/today/skipped-steps`, { step });
      await reload();
    });
  return (
    <section class="card flush needs" aria-labelledby="first-steps">
      <div class="card-head">
        <h2 id="first-steps">{t("title")}</h2>
      </div>
      {error !== undefined && <Problem error={error} retry={retry} />}
      <ul>
        {steps.map((step) => (
          <Need key={step} icon={icons[step]} what={<strong>{t(step)}</strong>} why={t(`${step}Why`)}>
            {pages[step].map(({ path, text }) => (
              <a key={path} class="button" href={path}>
                {t(text)}
              </a>
            ))}
            {step !== DECIDED_STEP && (
              <button type="button" aria-label={t("skipOf", { step: t(step) })} onClick={() => void skip(step)}>
                {t("skip")}
              </button>
            )}
          </Need>
        ))}
      </ul>
    </section>
  );
}

const words = {
  title: ["First steps", "İlk adımlar"],
  skip: ["Skip", "Atla"],
  skipOf: ["Skip: {step}", "Atla: {step}"],
  animals: ["Add your animals", "Hayvanlarınızı ekleyin"],
  animalsWhy: [
    "From a list of your practice software, one by one, or by a program with an API key.",
    "Klinik yazılımınızın bir listesinden, tek tek ya da API anahtarı olan bir programla.",
  ],
  importList: ["Import a list", "Liste aktar"],
  newAnimal: ["New animal", "Yeni hasta"],
  program: ["By a program", "Bir programla"],
  pc: ["Connect the PC beside your devices", "Cihazlarınızın yanındaki bilgisayarı bağlayın"],
  pcWhy: [
    "A code connects it; the PC then finds the devices as they send.",
    "Bir kodla bağlanır; bilgisayar cihazları gönderdikçe bulur.",
  ],
  addPc: ["Add a PC", "Bilgisayar ekle"],
  team: ["Add your team", "Ekibinizi ekleyin"],
  teamWhy: [
    "Each person signs in by name, so that the audit names who did what.",
    "Herkes kendi adıyla oturum açar; denetim kimin ne yaptığını gösterir.",
  ],
  invite: ["Add a user", "Kullanıcı ekle"],
  notifications: ["Choose who is notified", "Kime bildirileceğini seçin"],
  notificationsWhy: [
    "Of critical values, silent devices and waiting results, by e-mail or webhook.",
    "Kritik değerler, sessiz cihazlar ve bekleyen sonuçlar için e-posta ya da webhook ile.",
  ],
  choose: ["Choose", "Seç"],
  ranges: ["Look at the reference ranges", "Referans aralıklarına bakın"],
  rangesWhy: [
    "Published ranges are in use. Add your own where you have them.",
    "Yayımlanmış aralıklar kullanılıyor. Kendinizinkiler varsa ekleyin.",
  ],
  look: ["Look", "Bak"],
  limits: ["Decide about critical limits", "Kritik sınırlara karar verin"],
  limitsWhy: [
    "Published limits are off until a vet of the clinic accepts them by name. None is a decision too.",
    "Yayımlanmış sınırlar, kliniğin bir veteriner hekimi adıyla kabul edene kadar kapalıdır. Hiçbiri de bir karardır.",
  ],
  decide: ["Decide", "Karar ver"],
} as const;

const t = translations(words);
