import type { ComponentChildren } from "preact";

/** A message across the page, above all else. */
export function Banner({ children }: { children: ComponentChildren }) {
  return (
    <p class="banner" role="status">
      {children}
    </p>
  );
}
