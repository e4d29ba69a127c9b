import { type Dispatch, type StateUpdater, useState } from "preact/hooks";
import type { StudyPreview } from "../../../dashboard/types/results/previews.ts";
import { useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { translations } from "../../text.ts";
import { NotForDiagnosis, PictureDialog } from "../../ui/picture/picture-dialog.tsx";

/** Thumbnails of the images of a study; nothing without images. */
export function Previews({ fp }: { fp: string }) {
  const { data } = useResource<{ previews: StudyPreview[] }>(`/results/${fp}/previews`);
  const [shown, setShown] = useState<number | null>(null);
  const previews = data?.previews ?? [];
  if (previews.length === 0) return null;
  const count = previews.length;
  return (
    <section class="previews no-print" aria-label={t("images")}>
      <h2>{t("images")}</h2>
      <NotForDiagnosis>{t("originals")}</NotForDiagnosis>
      <ul class="plain-list pictures">
        {previews.map((preview, index) => (
          <li key={preview.position}>
            <button type="button" onClick={() => setShown(index)}>
              <Picture fp={fp} preview={preview} number={index + 1} count={count} />
            </button>
          </li>
        ))}
      </ul>
      {shown !== null && (
        <LargePicture fp={fp} previews={previews} shown={Math.min(shown, count - 1)} show={setShown} />
      )}
    </section>
  );
}

function LargePicture({
  fp,
  previews,
  shown,
  show,
}: {
  fp: string;
  previews: readonly StudyPreview[];
  shown: number;
  show: Dispatch<StateUpdater<number | null>>;
}) {
  const count = previews.length;
  const preview = previews[shown];
  // Starts from the current image, so that a key pressed before the next drawing counts.
  const turn = (by: number) => show((now) => ((now ?? 0) + by + count) % count);
  if (preview === undefined) return null;
  return (
    <PictureDialog
      title={t("imageOf", { number: shown + 1, count })}
      close={() => show(null)}
      {...{ count, turn }}
      frames={null}
      originals={t("originals")}
      picture={{ src: addressOf(fp, preview), alt: t("alt", { number: shown + 1, count }) }}
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

const t = translations({
  images: ["Images", "Görüntüler"],
  originals: [
    "The original images are on the clinic PC or in the PACS.",
    "Özgün görüntüler klinik bilgisayarında veya PACS'tedir.",
  ],
  imageOf: ["Image {number} of {count}", "Görüntü {number} / {count}"],
  alt: ["Image {number} of {count}, not for diagnosis", "Görüntü {number} / {count}, tanı için değildir"],
});
