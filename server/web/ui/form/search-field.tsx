import { useEffect, useRef, useState } from "preact/hooks";
import { Field } from "./field.tsx";

/** Time without a key press after which the search begins. */
const TYPING_MS = 250;

/** A search whose text goes into the address once the user stops typing. `change` gets it without outer blanks. */
export function SearchField({
  label,
  hint,
  placeholder,
  value,
  maxLength = 200,
  change,
}: {
  label: string;
  hint?: string;
  placeholder?: string;
  /** The text of the address. */
  value: string;
  maxLength?: number;
  change: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // A filter that is chosen while the user types stays.
  const latest = useRef(change);
  latest.current = change;
  const sent = useRef(value);
  // The back button and links also change the value. A value from here stays as it is typed, with what was typed since.
  useEffect(() => {
    if (value === sent.current) return;
    clearTimeout(timer.current);
    sent.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      <input
        type="search"
        value={typed}
        maxLength={maxLength}
        autocomplete="off"
        placeholder={placeholder}
        onInput={({ currentTarget }) => {
          const text = currentTarget.value;
          setTyped(text);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => {
            sent.current = text.trim();
            latest.current(sent.current);
          }, TYPING_MS);
        }}
      />
    </Field>
  );
}
