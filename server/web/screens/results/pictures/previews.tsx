import { type Dispatch, type StateUpdater, useState } from "preact/hooks";
import type { StudyPreview } from "../../../../dashboard/types/results/previews.ts";
import { useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { NotForDiagnosis, PictureDialog } from "../../../ui/picture/picture-dialog.tsx";
import { t } from "./preview-texts.ts";
import { useClip } from "./use-clip.ts";

/** Thumbnails of the images of a study; nothing without images. */
export function Previews({ fp }: { fp: string }) {
  const { data } = useResource<{ previews: StudyPreview[] }>(`/results/${fp}/previews`);
  const [shown, setShown] = useState<number | null>(null);
  const previews = data?.previews ?? [];
  if (previews.length === 0) return null;
  const count = previews.length;
  const current = previews[Math.min(shown ?? 0, count - 1)];
  return (
    <section class="previews no-print" aria-label={t("images")}>
      <h2>{t("images")}</h2>
      <NotForDiagnosis>{t("originals")}</NotForDiagnosis>
      <ul class="plain-list pictures">
        {previews.map((preview, index) => (
          <li key={preview.position}>
            <button type="button" onClick={() => setShown(index)}>
              <Picture fp={fp} preview={preview} number={index + 1} count={count} />
              {preview.frames > 1 && <span>{t("clip")}</span>}
            </button>
          </li>
        ))}
      </ul>
      {shown !== null && current !== undefined && (
        <LargePicture {...{ fp, count }} preview={current} shown={Math.min(shown, count - 1)} show={setShown} />
      )}
    </section>
  );
}

function LargePicture({
  fp,
  preview,
  count,
  shown,
  show,
}: {
  fp: string;
  preview: StudyPreview;
  count: number;
  shown: number;
  show: Dispatch<StateUpdater<number | null>>;
}) {
  const { frames, src } = useClip(fp, preview);
  // Starts from the current image, so that a key pressed before the next drawing counts.
  const turn = (by: number) => show((now) => ((now ?? 0) + by + count) % count);
  return (
    <PictureDialog
      title={t("imageOf", { number: shown + 1, count })}
      close={() => show(null)}
      {...{ count, turn }}
      frames={frames}
      originals={t("originals")}
      picture={{ src: src ?? addressOf(fp, preview), alt: t("alt", { number: shown + 1, count }) }}
    />
  );
}

function Picture({ fp, preview, number, count }: { fp: string; preview: StudyPreview; number: number; count: number }) {
  const { width, height } = preview;
  return <img src={addressOf(fp, preview)} width={width} height={height} alt={t("alt", { number, count })} />;
}

function addressOf(fp: string, { position }: StudyPreview): string {
  return `/clinic/v1${clinicPath()}/results/${fp}/previews/${position}`;
}
