import type { ComponentChildren } from "preact";
import "./facts.css";

/** A list of names and values that omits missing values, in a row or in two columns. */
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
