import type { ComponentChildren } from "preact";
import { translations } from "../../text.ts";
import { CloseButton, Dialog } from "../form-dialog/dialog.tsx";
import { PictureView } from "./picture-view.tsx";
import type { Frames, ShownPicture } from "./shown-picture.ts";
import "./picture.css";

interface PictureDialogProps {
  /** Names the image, whose size and look stay while others are added. */
  readonly id: string;
  readonly title: string;
  readonly close: () => void;
  /** Number of images through which the buttons and keys step. */
  readonly count: number;
  /** Shows the image `by` positions further. */
  readonly turn: (by: number) => void;
  /** The frames of a clip; null for an image without. */
  readonly frames: Frames | null;
  /** Location of the original. */
  readonly originals: string;
  /** Links to the original. */
  readonly links?: ComponentChildren;
  /** Null while it is missing. */
  readonly picture: ShownPicture | null;
  /** The reason why the picture is missing. */
  readonly children?: ComponentChildren;
}

/** A picture as large as the window allows. */
export function PictureDialog({
  id,
  title,
  close,
  count,
  turn,
  frames,
  originals,
  links,
  picture,
  children,
}: PictureDialogProps) {
  const between = count > 1 ? { by: turn, previous: t("previous"), next: t("next") } : null;
  const foot = (
    <>
      {links}
      <CloseButton />
    </>
  );
  return (
    <Dialog title={title} close={close} foot={foot} class="picture-dialog">
      <PictureView {...{ id, picture, frames }} turn={between} note={<NotForDiagnosis>{originals}</NotForDiagnosis>}>
        {children}
      </PictureView>
      {picture !== null && <p class="quiet picture-keys">{t(frames === null ? "keys" : "clipKeys")}</p>}
    </Dialog>
  );
}

/** Marks a picture as a preview, with the location of the original. */
export function NotForDiagnosis({ children }: { children: string }) {
  return (
    <p class="quiet">
      <strong class="not-for-diagnosis">{t("notForDiagnosis")}</strong> {children}
    </p>
  );
}

const t = translations({
  notForDiagnosis: ["Not for diagnosis", "Tanı için değildir"],
  previous: ["Previous image", "Önceki görüntü"],
  next: ["Next image", "Sonraki görüntü"],
  keys: [
    "Keys: ← → other image, + − size, 0 fit, Shift and arrows move, f full screen.",
    "Tuşlar: ← → diğer görüntü, + − boyut, 0 sığdır, Shift ve oklar kaydırır, f tam ekran.",
  ],
  clipKeys: [
    "Keys: space plays, ← → frame, Page Up and Page Down other image, + − size, 0 fit, Shift and arrows move, f full screen. The pace is not that of the device.",
    "Tuşlar: boşluk oynatır, ← → kare, Page Up ve Page Down diğer görüntü, + − boyut, 0 sığdır, Shift ve oklar kaydırır, f tam ekran. Hız cihazınki değildir.",
  ],
});
