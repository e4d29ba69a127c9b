import type { ComponentChildren } from "preact";
import "./badge.css";

/** A state in words. The colour only repeats it. */
export function Badge({
  tone,
  children,
}: {
  tone?: "active" | "new" | "warning" | "done";
  children: ComponentChildren;
}) {
  return <span class={tone === undefined ? "tag" : `tag tag-${tone}`}>{children}</span>;
}
