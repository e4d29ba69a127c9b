import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { LiveLine } from "../../types/overview.ts";
import { t } from "./texts.ts";

/** Lines that stay. A user looks at the last ones, and every one is in the messages. */
const LINES_MAX = 300;

/** The bytes of a device while they arrive: what it sends, what the agent replies, and what the line does. */
export function LiveBytes({ device }: { device: string }) {
  const lines = useSignal<readonly LiveLine[]>([]);
  const frame = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const source = new EventSource(`/local/v1/devices/${encodeURIComponent(device)}/bytes`);
    source.addEventListener("lines", ({ data }: MessageEvent<string>) => {
      lines.value = [...lines.value, ...(JSON.parse(data) as LiveLine[])].slice(-LINES_MAX);
    });
    return () => source.close();
  }, [device]);
  useEffect(() => {
    frame.current?.scrollTo(0, frame.current.scrollHeight);
  });
  return (
    <pre class="wire live" ref={frame} tabIndex={0} role="region" aria-label={t("live", { device })}>
      {lines.value.length === 0
        ? t("liveWaits")
        : lines.value.map(({ at, from, text }, index) => (
            <span key={index} class={`live-${from}`}>
              {`${timeOf(at)} ${SIGN[from]} ${t(from)}  ${text}\n`}
            </span>
          ))}
    </pre>
  );
}

const SIGN = { device: "→", agent: "←", line: "·" } as const;

/** Prints hours, minutes and seconds with thousandths: the order of bytes matters. */
function timeOf(at: string): string {
  const time = new Date(at);
  return `${time.toTimeString().slice(0, 8)}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}
