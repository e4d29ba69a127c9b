import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { translations } from "../../text.ts";
import { AS_SENT, brightnessOf, FITTED, type Place, pinched, placed, STEP, zoomed } from "./zoom.ts";

export interface ShownPicture {
  readonly src: string;
  readonly alt: string;
}

/** Frames of a clip. `turn` shows the frame `by` positions further. */
export interface Frames {
  readonly count: number;
  readonly turn: (by: number) => void;
  readonly status: string;
  /** Names of the buttons that turn. */
  readonly previous: string;
  readonly next: string;
}

interface PictureViewProps {
  /** Names the image. Another one starts fitted and as sent. */
  readonly id: string;
  /** Null while it is missing; `children` then has the reason. */
  readonly picture: ShownPicture | null;
  readonly frames: Frames | null;
  /** Shows the image `by` positions further; null without another image. */
  readonly turn: { readonly by: (by: number) => void; readonly previous: string; readonly next: string } | null;
  readonly children: ComponentChildren;
}

/** Frames in a second. The pace of the device is not known. */
const PACE_MS = 125;
/** Pixels by which a key moves the picture. */
const KEY_PIXELS = 60;

/**
 * A picture as large as its place, to zoom, move and brighten by pointer, touch and keys. Its look is set through the CSSOM, because
 * the content security policy admits no style attribute.
 */
export function PictureView({ id, picture, frames, turn, children }: PictureViewProps) {
  const view = useRef<HTMLDivElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const image = useRef<HTMLImageElement>(null);
  const [place, setPlace] = useState<Place>(FITTED);
  const [look, setLook] = useState(AS_SENT);
  const [isPlaying, setPlaying] = useState(false);
  const fingers = useRef(new Map<number, { x: number; y: number }>());

  const move = (change: (place: Place) => Place) =>
    setPlace((before) => placed(change(before), stage.current?.getBoundingClientRect() ?? { width: 0, height: 0 }));
  const zoom = (factor: number) => move((before) => zoomed(before, factor, { x: 0, y: 0 }));
  const reset = () => {
    setPlace(FITTED);
    setLook(AS_SENT);
  };
  const toggleFull = () => {
    if (document.fullscreenElement === null) void view.current?.requestFullscreen().catch(() => undefined);
    else void document.exitFullscreen();
  };
  useEffect(() => {
    reset();
    setPlaying(false);
  }, [id]);
  const step = (by: number) => (frames === null ? turn?.by(by) : frames.turn(by));

  useLayoutEffect(() => {
    if (image.current === null) return;
    image.current.style.transform = `translate(${place.x}px, ${place.y}px) scale(${place.scale})`;
    image.current.style.filter = brightnessOf(look);
  });
  // The next frame follows once this one is drawn.
  const src = picture?.src;
  useEffect(() => {
    if (!isPlaying || frames === null || src === undefined) return undefined;
    const timer = setTimeout(() => frames.turn(1), PACE_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, src]);

  useEffect(() => {
    const keys: Record<string, () => void> = {
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      PageUp: () => turn?.by(-1),
      PageDown: () => turn?.by(1),
      "+": () => zoom(STEP),
      "=": () => zoom(STEP),
      "-": () => zoom(1 / STEP),
      0: reset,
      f: toggleFull,
      " ": () => frames !== null && setPlaying((before) => !before),
    };
    const moves: Record<string, readonly [number, number]> = {
      ArrowLeft: [KEY_PIXELS, 0],
      ArrowRight: [-KEY_PIXELS, 0],
      ArrowUp: [0, KEY_PIXELS],
      ArrowDown: [0, -KEY_PIXELS],
    };
    const listen = (event: KeyboardEvent) => {
      const { key, target } = event;
      const on = target instanceof Element ? target : null;
      // A slider has the arrows, a button the space bar.
      if (event.ctrlKey || event.altKey || event.metaKey || on?.matches("input") === true) return;
      if (key === " " && on?.closest("button, a") != null) return;
      const by = event.shiftKey || key === "ArrowUp" || key === "ArrowDown" ? moves[key] : undefined;
      const act =
        by === undefined
          ? keys[key.length === 1 ? key.toLowerCase() : key]
          : () => move(({ x, y, scale }) => ({ x: x + by[0], y: y + by[1], scale }));
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  });

  // Preact's listeners of wheel events are passive in some browsers, and the page must not scroll.
  useEffect(() => {
    const shown = stage.current;
    const listen = (event: WheelEvent) => {
      event.preventDefault();
      move((before) => zoomed(before, Math.exp(-event.deltaY / 400), middleOf(event, shown)));
    };
    shown?.addEventListener("wheel", listen, { passive: false });
    return () => shown?.removeEventListener("wheel", listen);
  }, []);

  const down = (event: PointerEvent) => {
    if (picture === null) return;
    stage.current?.setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, middleOf(event, stage.current));
  };
  const drag = (event: PointerEvent) => {
    if (!fingers.current.has(event.pointerId)) return;
    const before = [...fingers.current.values()];
    fingers.current.set(event.pointerId, middleOf(event, stage.current));
    const after = [...fingers.current.values()];
    move((now) => pinched(now, before, after));
  };
  const up = (event: PointerEvent) => fingers.current.delete(event.pointerId);

  return (
    <div class="picture-view" ref={view}>
      <div
        class="picture-stage"
        ref={stage}
        tabIndex={0}
        role="group"
        aria-label={t("picture")}
        onPointerDown={down}
        onPointerMove={drag}
        onPointerUp={up}
        onPointerCancel={up}
        onDblClick={() => (place.scale === 1 ? zoom(2) : setPlace(FITTED))}
      >
        {picture === null ? children : <img ref={image} src={picture.src} alt={picture.alt} draggable={false} />}
      </div>
      {/* A click leaves the focus on the picture, so that the space bar still plays. */}
      <div
        class="picture-tools"
        role="group"
        aria-label={t("tools")}
        onMouseDown={(event) => {
          if (event.target instanceof HTMLButtonElement) event.preventDefault();
        }}
      >
        {turn !== null && (
          <span class="picture-group">
            <button type="button" onClick={() => turn.by(-1)}>
              {turn.previous}
            </button>
            <button type="button" onClick={() => turn.by(1)}>
              {turn.next}
            </button>
          </span>
        )}
        {frames !== null && (
          <span class="picture-group">
            <button type="button" onClick={() => frames.turn(-1)}>
              {frames.previous}
            </button>
            {/* A running clip would speak without a pause. */}
            <span role="status" aria-live={isPlaying ? "off" : "polite"}>
              {frames.status}
            </span>
            <button type="button" onClick={() => frames.turn(1)}>
              {frames.next}
            </button>
            <button type="button" onClick={() => setPlaying(!isPlaying)}>
              {t(isPlaying ? "pause" : "play")}
            </button>
          </span>
        )}
        {picture !== null && (
          <>
            <span class="picture-group">
              <button type="button" aria-label={t("smaller")} onClick={() => zoom(1 / STEP)}>
                −
              </button>
              <output aria-label={t("size")}>{Math.round(place.scale * 100)} %</output>
              <button type="button" aria-label={t("larger")} onClick={() => zoom(STEP)}>
                +
              </button>
            </span>
            <Slider
              label={t("brightness")}
              of={look.brightness}
              set={(brightness) => setLook({ ...look, brightness })}
            />
            <Slider label={t("contrast")} of={look.contrast} set={(contrast) => setLook({ ...look, contrast })} />
            <button type="button" onClick={reset}>
              {t("reset")}
            </button>
            {document.fullscreenEnabled && (
              <button type="button" onClick={toggleFull}>
                {t("full")}
              </button>
            )}
          </>
        )}
      </div>
    </div>
  );
}

/** Percent of the picture as sent. */
function Slider({ label, of: value, set }: { label: string; of: number; set: (value: number) => void }) {
  return (
    <label class="picture-slider">
      {label}
      <input
        type="range"
        min={20}
        max={300}
        step={10}
        value={value}
        aria-valuetext={`${value} %`}
        onInput={({ currentTarget }) => set(Number(currentTarget.value))}
      />
    </label>
  );
}

/** The point of a pointer, from the middle of the stage. */
function middleOf({ clientX, clientY }: MouseEvent, stage: Element | null): { x: number; y: number } {
  const { left, top, width, height } = stage?.getBoundingClientRect() ?? { left: 0, top: 0, width: 0, height: 0 };
  return { x: clientX - left - width / 2, y: clientY - top - height / 2 };
}

const t = translations({
  picture: ["Picture", "Görüntü"],
  tools: ["Picture tools", "Görüntü araçları"],
  play: ["Play", "Oynat"],
  pause: ["Pause", "Duraklat"],
  smaller: ["Smaller", "Küçült"],
  larger: ["Larger", "Büyüt"],
  size: ["Size", "Boyut"],
  brightness: ["Brightness", "Parlaklık"],
  contrast: ["Contrast", "Kontrast"],
  reset: ["Fit", "Sığdır"],
  full: ["Full screen", "Tam ekran"],
});
