import { useState } from "preact/hooks";
import type { StudyPreview } from "../../../../dashboard/types/results/previews.ts";
import { useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { NotForDiagnosis, PictureDialog } from "../../../ui/picture/picture-dialog.tsx";
import { t } from "./preview-texts.ts";
import { useClip } from "./use-clip.ts";

/** Thumbnails of the images of a study; nothing without images. */
export function Previews({ fp }: { fp: string }) {
  const { data } = useResource<{ previews: StudyPreview[] }>(`/results/${fp}/previews`);
  /** The position of the open image: an earlier one may arrive after it. */
  const [shown, setShown] = useState<number | null>(null);
  const previews = data?.previews ?? [];
  if (previews.length === 0) return null;
  const count = previews.length;
  const at = previews.findIndex(({ position }) => position === shown);
  const current = previews[at];
  // Starts from the open image, so that a key pressed before the next drawing counts.
  const turned = (now: number | null, by: number) =>
    previews[(previews.findIndex(({ position }) => position === now) + by + count) % count]?.position;
  return (
    <section class="previews no-print" aria-label={t("images")}>
      <h2>{t("images")}</h2>
      <NotForDiagnosis>{t("originals")}</NotForDiagnosis>
      <ul class="plain-list pictures">
        {previews.map((preview, index) => (
          <li key={preview.position}>
            <button type="button" onClick={() => setShown(preview.position)}>
              <Picture fp={fp} preview={preview} number={index + 1} count={count} />
              {preview.frames > 1 && <span>{t("clip")}</span>}
            </button>
          </li>
        ))}
      </ul>
      {current !== undefined && (
        <LargePicture
          {...{ fp, count }}
          preview={current}
          number={at + 1}
          turn={(by) => setShown((now) => turned(now, by) ?? null)}
          close={() => setShown(null)}
        />
      )}
    </section>
  );
}

function LargePicture({
  fp,
  preview,
  number,
  count,
  turn,
  close,
}: {
  fp: string;
  preview: StudyPreview;
  number: number;
  count: number;
  turn: (by: number) => void;
  close: () => void;
}) {
  const { frames, src } = useClip(fp, preview);
  return (
    <PictureDialog
      id={String(preview.position)}
      title={t("imageOf", { number, count })}
      {...{ count, turn, close }}
      frames={frames}
      originals={t("originals")}
      picture={{ src: src ?? addressOf(fp, preview), alt: t("alt", { number, count }) }}
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
