import { type Dispatch, type StateUpdater, useEffect, useState } from "preact/hooks";
import type { StudyPreview } from "../../../dashboard/types/results/previews.ts";
import { useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { texts } from "../../text.ts";
import { Dialog } from "../../ui/dialog.tsx";
import "./previews.css";

/** Small pictures of the images of a study; nothing for a study without any. */
export function Previews({ fp }: { fp: string }) {
  const { data } = useResource<{ previews: StudyPreview[] }>(`/results/${fp}/previews`);
  const [shown, setShown] = useState<number | null>(null);
  const previews = data?.previews ?? [];
  if (previews.length === 0) return null;
  const count = previews.length;
  return (
    <section class="previews no-print" aria-label={t("images")}>
      <h2>{t("images")}</h2>
      <p class="quiet">
        <strong class="not-for-diagnosis">{t("notForDiagnosis")}</strong> {t("originals")}
      </p>
      <ul>
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
  // From the image shown now: a key that comes before the last change is drawn still counts.
  const turn = (by: number) => show((now) => ((now ?? 0) + by + count) % count);
  useEffect(() => {
    const listen = ({ key }: KeyboardEvent) => {
      if (key === "ArrowLeft") turn(-1);
      if (key === "ArrowRight") turn(1);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [count]);
  if (preview === undefined) return null;
  return (
    <Dialog title={t("imageOf", { number: shown + 1, count })} close={() => show(null)}>
      <div class="large-preview">
        <Picture fp={fp} preview={preview} number={shown + 1} count={count} />
        <p>
          <strong class="not-for-diagnosis">{t("notForDiagnosis")}</strong> <span class="quiet">{t("originals")}</span>
        </p>
        <div class="actions">
          {count > 1 && (
            <>
              <button type="button" onClick={() => turn(-1)}>
                {t("previous")}
              </button>
              <button type="button" onClick={() => turn(1)}>
                {t("next")}
              </button>
            </>
          )}
          <button type="button" onClick={() => show(null)}>
            {t("close")}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Picture({
  fp,
  preview: { position, width, height },
  number,
  count,
}: {
  fp: string;
  preview: StudyPreview;
  number: number;
  count: number;
}) {
  const url = `/clinic/v1${clinicPath()}/results/${fp}/previews/${position}`;
  return <img src={url} width={width} height={height} alt={t("alt", { number, count })} />;
}

const t = texts(
  {
    images: "Images",
    notForDiagnosis: "Not for diagnosis",
    originals: "The original images are on the clinic PC or in the PACS.",
    imageOf: "Image {number} of {count}",
    alt: "Image {number} of {count}, not for diagnosis",
    previous: "Previous image",
    next: "Next image",
    close: "Close",
  },
  {
    images: "Görüntüler",
    notForDiagnosis: "Tanı için değildir",
    originals: "Özgün görüntüler klinik bilgisayarında veya PACS'tedir.",
    imageOf: "Görüntü {number} / {count}",
    alt: "Görüntü {number} / {count}, tanı için değildir",
    previous: "Önceki görüntü",
    next: "Sonraki görüntü",
    close: "Kapat",
  },
);
