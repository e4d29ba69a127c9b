import { cloneElement, type VNode } from "preact";
import { useId } from "preact/hooks";

/** A label with its control, a hint and an error. The control gets the id of the label, and that of the hint or error. */
export function Field({
  label,
  hint,
  fault,
  children,
}: {
  label: string;
  hint?: string;
  fault?: string | null;
  children: VNode<Record<string, unknown>>;
}) {
  const id = useId();
  const hasNote = hint !== undefined || fault != null;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(hasNote && { "aria-describedby": `${id}-note` }),
        ...(fault != null && { "aria-invalid": true }),
      })}
      {hasNote && (
        <p class={fault == null ? "hint" : "fault"} id={`${id}-note`} role={fault == null ? undefined : "alert"}>
          {fault ?? hint}
        </p>
      )}
    </div>
  );
}
