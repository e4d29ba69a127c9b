import type { ComponentChildren } from "preact";
import { translations } from "../../text.ts";
import type { Frames, Turn } from "./shown-picture.ts";
import { type Look, STEP } from "./zoom.ts";

interface PictureToolsProps {
  readonly turn: Turn | null;
  readonly frames: Frames | null;
  readonly isPlaying: boolean;
  readonly play: () => void;
  /** Null without a picture. */
  readonly scale: number | null;
  readonly look: Look;
  readonly setLook: (look: Look) => void;
  readonly zoom: (factor: number) => void;
  readonly reset: () => void;
  readonly toggleFull: () => void;
}

/** The buttons and sliders of a picture. */
export function PictureTools(props: PictureToolsProps) {
  const { turn, frames, isPlaying, play, scale, look, setLook, zoom, reset, toggleFull } = props;
  return (
    <div class="picture-tools" role="group" aria-label={t("tools")}>
      {turn !== null && (
        <span class="picture-group">
          <Tool act={() => turn.by(-1)}>{turn.previous}</Tool>
          <Tool act={() => turn.by(1)}>{turn.next}</Tool>
        </span>
      )}
      {frames !== null && (
        <span class="picture-group">
          <Tool act={() => frames.turn(-1)}>{frames.previous}</Tool>
          {/* A running clip would speak without a pause. */}
          <span role="status" aria-live={isPlaying ? "off" : "polite"}>
            {frames.status}
          </span>
          <Tool act={() => frames.turn(1)}>{frames.next}</Tool>
          <Tool act={play}>{t(isPlaying ? "pause" : "play")}</Tool>
        </span>
      )}
      {scale !== null && (
        <>
          <span class="picture-group">
            <Tool act={() => zoom(1 / STEP)} label={t("smaller")}>
              −
            </Tool>
            <output aria-label={t("size")}>{Math.round(scale * 100)} %</output>
            <Tool act={() => zoom(STEP)} label={t("larger")}>
              +
            </Tool>
          </span>
          <Slider label={t("brightness")} of={look.brightness} set={(brightness) => setLook({ ...look, brightness })} />
          <Slider label={t("contrast")} of={look.contrast} set={(contrast) => setLook({ ...look, contrast })} />
          <Tool act={reset}>{t("reset")}</Tool>
          {document.fullscreenEnabled && <Tool act={toggleFull}>{t("full")}</Tool>}
        </>
      )}
    </div>
  );
}

/** A button that a click does not focus, so that the space bar still plays. */
function Tool({ act, label, children }: { act: () => void; label?: string; children: ComponentChildren }) {
  return (
    <button type="button" aria-label={label} onClick={act} onMouseDown={(event) => event.preventDefault()}>
      {children}
    </button>
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

const t = translations({
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
