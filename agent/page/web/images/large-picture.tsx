import { useEffect, useState } from "preact/hooks";
import { PICTURE_FAULTS } from "../../types/images.ts";
import type { RequestError } from "../../../../server/web/api.ts";
import { Dialog } from "../../../../server/web/ui/dialog.tsx";
import { t } from "./texts.ts";
import { usePicture } from "./use-picture.ts";

/** Why there is no picture: a fault in the reader's words, any other reason as the agent has it. */
export function NotDrawn({ error: { code, message } }: { error: RequestError }) {
  const fault = PICTURE_FAULTS.find((known) => known === code);
  return (
    <>
      <strong>{t("notDrawn")}</strong> {fault === undefined ? <span lang="en">{message}</span> : t(fault)}
    </>
  );
}

/** An image in a dialog. A clip is turned by its frames. */
export function LargePicture(props: { id: string; number: number; count: number; close: () => void }) {
  const { id, number, count, close } = props;
  const [frame, setFrame] = useState(1);
  const { url, frames, error } = usePicture(id, "large", frame, true);
  const turn = (by: number) => setFrame((now) => ((now - 1 + by + frames) % frames) + 1);
  useEffect(() => {
    const listen = ({ key }: KeyboardEvent) => {
      if (key === "ArrowLeft") turn(-1);
      if (key === "ArrowRight") turn(1);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [frames]);
  return (
    <Dialog title={t("imageOf", { number, count })} close={close}>
      <div class="large-image">
        <div class="large-image-place">
          {url !== null && <img src={url} alt={t("alt", { number, count })} />}
          {url === null && error === null && <p role="status">{t("drawing")}</p>}
          {error !== null && (
            <p role="alert">
              <NotDrawn error={error} />
              {error.status === 422 && ` ${t("notDrawnNext")}`}
            </p>
          )}
        </div>
        <p>
          <strong class="not-for-diagnosis">{t("notForDiagnosis")}</strong> <span class="quiet">{t("originals")}</span>
        </p>
        <div class="actions">
          {frames > 1 && (
            <>
              <button type="button" onClick={() => turn(-1)}>
                {t("previous")}
              </button>
              <span role="status">{t("frameOf", { frame, frames })}</span>
              <button type="button" onClick={() => turn(1)}>
                {t("next")}
              </button>
            </>
          )}
          <button type="button" onClick={close}>
            {t("close")}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
