import { code128, QUIET } from "./code-128.ts";
import "./barcode.css";

const HEIGHT = 32;

/** Draws a barcode, black on white in both themes. */
export function Barcode({ of: text, label }: { of: string; label: string }) {
  let x = QUIET;
  const bars = code128(text).map((width, index) => {
    const from = x;
    x += width;
    return index % 2 === 0 ? `M${from} 0h${width}v${HEIGHT}h-${width}z` : "";
  });
  return (
    <svg
      class="barcode"
      viewBox={`0 0 ${x + QUIET} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={x + QUIET} height={HEIGHT} fill="#fff" />
      <path d={bars.join("")} fill="#000" />
    </svg>
  );
}
