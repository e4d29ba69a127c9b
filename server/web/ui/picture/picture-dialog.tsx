import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { translations } from "../../text.ts";
import { CloseButton, Dialog } from "../form-dialog/dialog.tsx";
import "./picture.css";

interface PictureDialogProps {
  readonly title: string;
  readonly close: () => void;
  /** Number of pictures or frames that the buttons and the arrow keys step through. */
  readonly count: number;
  /** Shows the picture `by` positions further. */
  readonly turn: (by: number) => void;
  readonly previous: string;
  readonly next: string;
  /** The position among the frames of a clip. */
  readonly status?: string;
  /** Location of the original. */
  readonly originals: string;
  /** The picture, or the reason why it is missing. */
  readonly children: ComponentChildren;
}

/** A picture as large as the window allows. */
export function PictureDialog({
  title,
  close,
  count,
  turn,
  previous,
  next,
  status,
  originals,
  children,
}: PictureDialogProps) {
  useEffect(() => {
    const listen = ({ key }: KeyboardEvent) => {
      if (key === "ArrowLeft") turn(-1);
      if (key === "ArrowRight") turn(1);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [count]);
  const foot = (
    <>
      {count > 1 && (
        <>
          <button type="button" onClick={() => turn(-1)}>
            {previous}
          </button>
          {status !== undefined && <span role="status">{status}</span>}
          <button type="button" onClick={() => turn(1)}>
            {next}
          </button>
        </>
      )}
      <CloseButton />
    </>
  );
  return (
    <Dialog title={title} close={close} foot={foot} class="picture-dialog">
      <div class="picture-place">{children}</div>
      <NotForDiagnosis>{originals}</NotForDiagnosis>
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
});
