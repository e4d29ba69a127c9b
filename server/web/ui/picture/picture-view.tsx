import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { translations } from "../../text.ts";
import { PictureTools } from "./picture-tools.tsx";
import type { Frames, ShownPicture, Turn } from "./shown-picture.ts";
import { usePictureKeys } from "./use-picture-keys.ts";
import { usePlace } from "./use-place.ts";
import { AS_SENT, filterOf, FITTED } from "./zoom.ts";

interface PictureViewProps {
  /** Names the image. Another one starts fitted and as sent. */
  readonly id: string;
  /** Null while it is missing; `children` then has the reason. */
  readonly picture: ShownPicture | null;
  readonly frames: Frames | null;
  /** Null without another image. */
  readonly turn: Turn | null;
  /** Says that the picture is not for diagnosis. It stays in full screen. */
  readonly note: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Time of a frame. The pace of the device is not known. */
const PACE_MS = 125;

/**
 * A picture as large as its place, to zoom, move and brighten by pointer, touch and keys. Its look is set through the CSSOM, because
 * the content security policy admits no style attribute.
 */
export function PictureView({ id, picture, frames, turn, note, children }: PictureViewProps) {
  const view = useRef<HTMLDivElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const image = useRef<HTMLImageElement>(null);
  const { place, setPlace, move, zoom } = usePlace(stage);
  const [look, setLook] = useState(AS_SENT);
  const [isPlaying, setPlaying] = useState(false);
  const reset = () => {
    setPlace(FITTED);
    setLook(AS_SENT);
  };
  useEffect(() => {
    reset();
    setPlaying(false);
  }, [id]);
  const toggleFull = () => {
    if (document.fullscreenElement === null) void view.current?.requestFullscreen().catch(() => undefined);
    else void document.exitFullscreen();
  };
  const play = () => setPlaying((before) => !before);

  useLayoutEffect(() => {
    if (image.current === null) return;
    image.current.style.transform = `translate(${place.x}px, ${place.y}px) scale(${place.scale})`;
    image.current.style.filter = filterOf(look);
  });
  useEffect(() => {
    if (!isPlaying || frames?.isDrawn !== true) return undefined;
    const timer = setTimeout(() => frames.turn(1), PACE_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, frames?.status, frames?.isDrawn]);
  usePictureKeys({ frames, turn, move, zoom, reset, toggleFull, play });

  return (
    <div class="picture-view" ref={view}>
      <div class="picture-stage" ref={stage} tabIndex={0} role="region" aria-label={t("picture")}>
        {picture === null ? children : <img ref={image} src={picture.src} alt={picture.alt} draggable={false} />}
      </div>
      <PictureTools
        {...{ turn, frames, isPlaying, play, look, setLook, zoom, reset, toggleFull }}
        scale={picture === null ? null : place.scale}
      />
      {note}
    </div>
  );
}

const t = translations({
  picture: ["Picture", "Görüntü"],
});
