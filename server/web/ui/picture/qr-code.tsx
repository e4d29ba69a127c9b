import { encode } from "uqr";
import "./qr-code.css";

/** Quiet zone around a QR code, in modules (ISO/IEC 18004). */
const QUIET = 4;

/** Draws a QR code, black on white in both themes, because many phones cannot read inverted codes. */
export function QrCode({ of: text, label }: { of: string; label: string }) {
  const { data, size } = encode(text, { border: QUIET });
  const squares = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")));
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join("")} fill="#000" />
    </svg>
  );
}
