import "./diff-lines.css";

/** Lines of a diff: removed ones start with `-`, added ones with `+`. The colour repeats the sign. */
export function DiffLines({ lines, label }: { lines: readonly string[]; label: string }) {
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label={label}>
      {lines.map((line, index) => (
        <span key={index} class={line.startsWith("+") ? "diff-new" : line.startsWith("-") ? "diff-old" : undefined}>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  );
}
