import { signal } from "@preact/signals";
import { useLocation } from "preact-iso";
import { useEffect } from "preact/hooks";
import type { RecentChange } from "../../../../dashboard/types/animals.ts";
import { call } from "../../../api.ts";
import { Problem } from "../../../resource.tsx";
import { clinicPath, may } from "../../../session.ts";
import { dateTime, translations } from "../../../text.ts";
import { useAction } from "../../../ui/form/use-action.ts";

// The last change of a patient, once, with its undo; and the changes of the last 24 hours, each with its undo.

export const LIST = "/dashboard/patients";

export interface Notice {
  /** The address of the screen that shows it. */
  readonly at: string;
  readonly text: string;
  /** Fp of the batch that undoes it. */
  readonly batch?: string | null;
  /** Whether the undo removes the patient of the screen. */
  readonly isNew?: boolean;
}

/** A sentence that the next screen says once. */
export const notice = signal<Notice | null>(null);

/** Shows the notice of this screen, until the user leaves it. */
export function NoticeLine({ at, reload }: { at: string; reload: () => Promise<void> }) {
  useEffect(
    () => () => {
      if (notice.value?.at === at) notice.value = null;
    },
    [at],
  );
  const shown = notice.value?.at === at ? notice.value : null;
  const { text = "", batch = null, isNew = false } = shown ?? {};
  return (
    <div role="status" class="no-print">
      {shown !== null && (
        <div class="note note-good between">
          <span>{text}</span>
          {batch !== null && may("staff") && <Undo at={at} batch={batch} isNew={isNew} reload={reload} />}
        </div>
      )}
    </div>
  );
}

/** Lists what was written about a patient within 24 hours. */
export function RecentChanges({ at, changes, reload }: RecentChangesProps) {
  if (changes.length === 0 || !may("staff")) return null;
  return (
    <section class="no-print" aria-labelledby="recent">
      <h2 id="recent">{t("recent")}</h2>
      <ul class="plain-list entries">
        {changes.map(({ batch, what, merged, at: time, by }) => {
          const words = what === "merged" ? t("merged", { name: merged ?? "" }) : t(what);
          return (
            <li key={batch} class="between">
              <span>
                {words}{" "}
                <span class="quiet">
                  {by ?? t("software")}, {dateTime(time)}
                </span>
              </span>
              <Undo at={at} batch={batch} isNew={what === "added"} reload={reload} of={words} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

interface RecentChangesProps {
  readonly at: string;
  readonly changes: readonly RecentChange[];
  readonly reload: () => Promise<void>;
}

function Undo({ at, batch, isNew, reload, of }: Pick<Required<Notice>, "at" | "isNew"> & UndoProps) {
  const { route } = useLocation();
  const { run, retry, error, isRunning } = useAction();
  const undo = async () => {
    await call("POST", `${clinicPath()}/changes/${batch}/undo`, {});
    notice.value = { at: isNew ? LIST : at, text: t("undone") };
    if (isNew) route(LIST);
    else await reload();
  };
  return (
    <>
      <button type="button" disabled={isRunning} onClick={() => void run(undo)}>
        {t("undo")}
        {of !== undefined && <span class="visually-hidden"> {of}</span>}
      </button>
      {error !== undefined && <Problem error={error} retry={retry} />}
    </>
  );
}

interface UndoProps {
  readonly batch: string;
  readonly reload: () => Promise<void>;
  /** What the button undoes, if several are on the screen. */
  readonly of?: string;
}

const t = translations({
  undo: ["Undo", "Geri al"],
  undone: ["The change is undone.", "Değişiklik geri alındı."],
  recent: ["Changes of the last 24 hours", "Son 24 saatteki değişiklikler"],
  added: ["Added", "Eklendi"],
  changed: ["Changed", "Değiştirildi"],
  deceased: ["Death noted or taken back", "Ölüm kaydedildi veya geri alındı"],
  removed: ["Removed", "Silindi"],
  restored: ["Brought back", "Geri getirildi"],
  owner: ["Owner's data changed", "Sahibin bilgileri değiştirildi"],
  merged: ["{name} was merged into this animal", "{name} bu hastayla birleştirildi"],
  software: ["practice software", "klinik yazılımı"],
});
