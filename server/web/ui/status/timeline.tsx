import type { ComponentChildren } from "preact";
import { dateTime } from "../../text.ts";
import "./timeline.css";

/** Events with their times, in the order of the entries. */
export function Timeline({ of }: { of: readonly { readonly at: string; readonly text: ComponentChildren }[] }) {
  return (
    <ol class="plain-list time-line">
      {of.map(({ at, text }, index) => (
        <li key={index}>
          <time dateTime={at}>{dateTime(at)}</time> <span>{text}</span>
        </li>
      ))}
    </ol>
  );
}
