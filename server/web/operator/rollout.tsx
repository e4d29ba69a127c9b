import { useState } from "preact/hooks";
import type { BegunRollouts, HostedSums } from "../../dashboard/types/operator.ts";
import { call } from "../api.ts";
import { Problem } from "../resource.tsx";
import { translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { formValues } from "../ui/form/form.ts";
import { useAction } from "../ui/form/use-action.ts";

/** The roll-out of the newest release: its progress over all PCs, and the start in some further clinics. */
export function Rollout({
  of: sums,
  version,
  reload,
}: {
  of: HostedSums;
  version: string;
  reload: () => Promise<void>;
}) {
  const { run, error, isRunning } = useAction();
  const [begun, setBegun] = useState<string | null>(null);
  const send = (path: string, body: object, words: (count: number) => string) =>
    void run(async () => {
      const { clinics } = await call<BegunRollouts>("POST", path, body);
      setBegun(words(clinics));
      await reload();
    });
  const start = (event: SubmitEvent) => {
    const clinics = Number(formValues(event)["clinics"]);
    send("/rollout", { version, clinics }, (count) => t("begun", { count }));
  };
  const done = sums.pcs - sums.behind;
  return (
    <section aria-labelledby="rollout">
      <div class="between">
        <h2 id="rollout">{t("title", { version })}</h2>
        {sums.updating > 0 && (
          <button
            type="button"
            class="danger"
            disabled={isRunning}
            onClick={() => send("/rollout/stop", {}, (count) => t("stopped", { count }))}
          >
            {t("stop")}
          </button>
        )}
      </div>
      <div class="card">
        <p>{t("progress", { done, all: sums.pcs, updating: sums.updating })}</p>
        <progress max={Math.max(1, sums.pcs)} value={done} aria-label={t("bar", { version })} />
        {begun !== null && <p role="status">{begun}</p>}
        {error !== undefined && <Problem error={error} />}
        {sums.behind > 0 && (
          <form class="list-bar" onSubmit={start}>
            <Field label={t("count")} hint={t("countHint")}>
              <input type="number" name="clinics" min={1} max={500} defaultValue="10" required />
            </Field>
            <button type="submit" disabled={isRunning}>
              {t("start")}
            </button>
          </form>
        )}
      </div>
    </section>
  );
}

const t = translations({
  title: ["Roll-out of {version}", "{version} dağıtımı"],
  progress: [
    "{done} of {all} PCs have it; {updating} {updating|clinic is|clinics are} updating.",
    "{all} bilgisayardan {done} tanesinde var; {updating} klinik güncelleniyor.",
  ],
  bar: ["PCs on {version}", "{version} sürümündeki bilgisayarlar"],
  stop: ["Stop", "Durdur"],
  stopped: ["Stopped in {count} {count|clinic|clinics}.", "{count} klinikte durduruldu."],
  begun: ["Begun in {count} {count|clinic|clinics}.", "{count} klinikte başladı."],
  count: ["Clinics to begin with", "Başlanacak klinik sayısı"],
  countHint: [
    "In each clinic it goes from PC to PC, and stops by itself at a PC that goes back.",
    "Her klinikte bilgisayardan bilgisayara ilerler ve geri dönen bir bilgisayarda kendiliğinden durur.",
  ],
  start: ["Update the next clinics", "Sıradaki klinikleri güncelle"],
});
