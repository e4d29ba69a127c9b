import { cloneElement, type VNode } from "preact";
import { useId } from "preact/hooks";

/** A label with its control, and one note: a fault, a warning or a hint. The control gets the id and the description. */
export function Field({
  label,
  hint,
  warning = null,
  fault,
  children,
}: {
  label: string;
  hint?: string;
  /** A value to look at twice, which is not refused. */
  warning?: string | null;
  fault?: string | null;
  children: VNode<Record<string, unknown>>;
}) {
  const id = useId();
  const note = fault ?? warning ?? hint;
  const kind = fault != null ? "fault" : warning !== null ? "warning" : "hint";
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(note !== undefined && { "aria-describedby": `${id}-note` }),
        ...(fault != null && { "aria-invalid": true }),
      })}
      {note !== undefined && (
        <p class={kind} id={`${id}-note`} role={kind === "hint" ? undefined : "alert"}>
          {note}
        </p>
      )}
    </div>
  );
}
