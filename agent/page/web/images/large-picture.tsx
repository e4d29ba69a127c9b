import { useState } from "preact/hooks";
import { PICTURE_FAULTS } from "../../types/images.ts";
import type { RequestError } from "../../../../server/web/api.ts";
import { PictureDialog } from "../../../../server/web/ui/picture/picture-dialog.tsx";
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
  return (
    <PictureDialog
      title={t("imageOf", { number, count })}
      close={close}
      count={frames}
      turn={turn}
      originals={t("originals")}
      previous={t("previous")}
      next={t("next")}
      status={t("frameOf", { frame, frames })}
    >
      {url !== null && <img src={url} alt={t("alt", { number, count })} />}
      {url === null && error === null && <p role="status">{t("drawing")}</p>}
      {error !== null && (
        <p role="alert">
          <NotDrawn error={error} />
          {error.status === 422 && ` ${t("notDrawnNext")}`}
        </p>
      )}
    </PictureDialog>
  );
}
