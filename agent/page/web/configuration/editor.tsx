import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import type { LocalProblem } from "../../types/configuration.ts";
import { t } from "./texts.ts";

/** A text with line numbers, next to the list of its faults. A fault leads to its line. */
export function Editor({
  text,
  problems,
  isChecking,
  edit,
}: {
  text: string;
  problems: readonly LocalProblem[];
  isChecking: boolean;
  edit: (text: string) => void;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLPreElement>(null);
  const id = useId();
  const lines = text.split("\n");
  const faulty = new Set(problems.map(({ line }) => line));

  const jump = (line: number) => {
    const shown = area.current;
    if (shown === null) return;
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    shown.focus();
    shown.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    shown.scrollTop = (shown.scrollHeight * Math.max(0, line - 4)) / lines.length;
  };

  return (
    <div class="editing">
      <div class="editor">
        <pre class="editor-lines" ref={numbers} aria-hidden="true">
          {lines.map((_, index) => (
            <span key={index} class={faulty.has(index + 1) ? "editor-fault" : undefined}>
              {`${index + 1}\n`}
            </span>
          ))}
        </pre>
        <textarea
          ref={area}
          value={text}
          aria-label={t("text")}
          aria-describedby={id}
          aria-invalid={problems.length > 0}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          wrap="off"
          onInput={({ currentTarget }) => edit(currentTarget.value)}
          onScroll={({ currentTarget }) => numbers.current?.scrollTo(0, currentTarget.scrollTop)}
        />
      </div>
      <div class="editor-faults" id={id} role="status">
        <strong>{isChecking ? t("checking") : countWord(problems.length)}</strong>
        <Problems of={problems}>
          {(line) => (
            <button type="button" onClick={() => jump(line)}>
              {t("line", { line })}
            </button>
          )}
        </Problems>
      </div>
    </div>
  );
}

function countWord(count: number): string {
  return count === 0 ? t("good") : t("faults", { count });
}

/** Faults with their lines. The agent writes them in English. */
export function Problems({
  of,
  children,
}: {
  of: readonly LocalProblem[];
  children?: (line: number) => ComponentChildren;
}) {
  return (
    <ul class="editor-problems">
      {of.map(({ line, message }, index) => (
        <li key={index}>
          {children === undefined ? `${t("line", { line })}:` : children(line)} <span lang="en">{message}</span>
        </li>
      ))}
    </ul>
  );
}
