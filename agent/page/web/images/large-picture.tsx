import { useState } from "preact/hooks";
import { PICTURE_FAULTS } from "../../types/images.ts";
import type { RequestError } from "../../../../server/web/api.ts";
import { PictureDialog } from "../../../../server/web/ui/picture/picture-dialog.tsx";
import { language } from "../../../../server/web/text.ts";
import { faultText } from "../../types/words/fault-words.ts";
import { t } from "./texts.ts";
import { usePicture } from "./use-picture.ts";

/** Why there is no picture: a fault in the reader's words, any other reason in the page's language, else as the agent has it. */
export function NotDrawn({ error: { code, message } }: { error: RequestError }) {
  const fault = PICTURE_FAULTS.find((known) => known === code);
  const words = fault === undefined ? faultText(message, language.value) : t(fault);
  return (
    <>
      <strong>{t("notDrawn")}</strong> {words ?? <span lang="en">{message}</span>}
    </>
  );
}

interface LargePictureProps {
  readonly id: string;
  readonly number: number;
  /** Number of images of the study. */
  readonly count: number;
  /** Number of images among which `turn` goes. */
  readonly shown: number;
  readonly turn: (by: number) => void;
  readonly close: () => void;
}

/** An image in a dialog. A clip is turned by its frames. */
export function LargePicture({ id, number, count, shown, turn, close }: LargePictureProps) {
  const [{ of, frame }, setFrame] = useState({ of: id, frame: 1 });
  const current = of === id ? frame : 1;
  const { url, shown: drawn, frames, error } = usePicture(id, "large", current, true);
  const turnFrame = (by: number) =>
    setFrame((now) => ({ of: id, frame: (((now.of === id ? now.frame : 1) - 1 + by + frames) % frames) + 1 }));
  const clip = {
    count: frames,
    turn: turnFrame,
    isDrawn: drawn === current,
    status: t("frameOf", { frame: current, frames }),
    previous: t("previous"),
    next: t("next"),
  };
  return (
    <PictureDialog
      id={id}
      title={t("imageOf", { number, count })}
      close={close}
      count={shown}
      turn={turn}
      frames={frames > 1 ? clip : null}
      originals={t("originals")}
      links={
        <a class="button" href={`/local/v1/images/${encodeURIComponent(id)}/original`} download>
          {t("original")}
        </a>
      }
      picture={url === null ? null : { src: url, alt: t("alt", { number, count }) }}
    >
      {error === null ? (
        <p role="status">{t("drawing")}</p>
      ) : (
        <p role="alert">
          <NotDrawn error={error} />
          {error.status === 422 && ` ${t("notDrawnNext")}`}
        </p>
      )}
    </PictureDialog>
  );
}
