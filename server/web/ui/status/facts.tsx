import type { ComponentChildren } from "preact";
import "./facts.css";

/** Names with what is known; one without a value is left out. Side by side, or below each other with their names in a column. */
export function Facts({
  of,
  inColumn = false,
}: {
  of: readonly (readonly [name: string, value: ComponentChildren])[];
  inColumn?: boolean;
}) {
  return (
    <dl class={inColumn ? "facts facts-column" : "facts"}>
      {of.map(([name, value]) =>
        value === null || value === undefined || value === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
