import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AnimalBody, SavedAnimal } from "../../../../dashboard/types/animals.ts";
import { Problem } from "../../../resource.tsx";
import { useAction } from "../../../ui/form/use-action.ts";
import { AnimalFields } from "./animal-fields.tsx";
import { Doubles } from "./doubles.tsx";
import { type AnimalDraft, typedAnimal } from "./draft.ts";
import { NumberFields } from "./number-fields.tsx";
import { OwnerFields } from "./owner-fields.tsx";
import { faultText } from "./texts.ts";
import { useCheck } from "./use-check.ts";
import "./animal.css";

export interface AnimalFormProps {
  readonly start: AnimalDraft;
  /** The fp of the animal that is edited; null for a new one. */
  readonly edited: string | null;
  readonly save: (body: AnimalBody) => Promise<SavedAnimal>;
  readonly done: (saved: SavedAnimal) => unknown;
  /** Label of the button, and the one while an animal of the clinic is alike. */
  readonly label: string;
  readonly labelIfAlike: string;
  /** Takes an animal of the clinic in place of a new one. */
  readonly use?: (fp: string) => void;
  /** The link or button that leaves the form without saving. */
  readonly children: ComponentChildren;
}

/** An animal with its owner. Faults and animals that are alike appear while one types, the latter always before it is saved. */
export function AnimalForm({ start, edited, save, done, label, labelIfAlike, use, children }: AnimalFormProps) {
  const [draft, setDraft] = useState(start);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [isTried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { run, error, isRunning } = useAction();
  const animal = typedAnimal(draft);
  const { latest, ask } = useCheck(animal, edited);
  const isTyped = useRef(false);
  useGuard(form, isTyped);
  const doubles = latest?.doubles ?? [];

  const submit = async () => {
    setTried(true);
    const { faults, doubles: found } = await ask();
    if (faults.length > 0) {
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus());
      return;
    }
    // One that is alike and was not on the page yet: the user looks first.
    if (found.some(({ fp }) => !doubles.some((shown) => shown.fp === fp))) return;
    done(await save({ animal, seen: found.map(({ fp }) => fp) }));
  };

  const fields = {
    draft,
    change(changed: Partial<AnimalDraft>) {
      isTyped.current = true;
      setDraft((before) => ({ ...before, ...changed }));
    },
    faultOf: (field: string) => (isTried || left.has(field) ? faultText(latest?.faults, field) : null),
    leave: (field: string) => setLeft((before) => new Set([...before, field])),
  };
  return (
    <form
      ref={form}
      class="animal-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void run(submit);
      }}
    >
      <div class="card">
        <AnimalFields {...fields} />
        <NumberFields
          {...fields}
          warningOf={(field) => (left.has(field) ? faultText(latest?.warnings, field) : null)}
        />
        <OwnerFields {...fields} suggested={latest?.owners ?? []} />
      </div>
      <Doubles doubles={doubles} edited={edited} use={use} />
      <div class="animal-save">
        {error !== undefined && <Problem error={error} />}
        <p class="actions">
          <button type="submit" class="primary" disabled={isRunning}>
            {doubles.length > 0 && edited === null ? labelIfAlike : label}
          </button>
          {children}
        </p>
      </div>
    </form>
  );
}

/**
 * Keeps what is typed: the browser asks before it leaves the page, and Escape closes no dialog around the form. A busy browser may get
 * Escape before it has drawn what was typed, so the keys ask no state that is drawn.
 */
function useGuard(form: { readonly current: HTMLFormElement | null }, isTyped: { readonly current: boolean }): void {
  useEffect(() => {
    const shown = form.current;
    const ask = (event: BeforeUnloadEvent) => {
      if (isTyped.current) event.preventDefault();
    };
    const stay = (event: KeyboardEvent) => {
      if (event.key === "Escape" && isTyped.current) event.preventDefault();
    };
    window.addEventListener("beforeunload", ask);
    shown?.addEventListener("keydown", stay);
    return () => {
      window.removeEventListener("beforeunload", ask);
      shown?.removeEventListener("keydown", stay);
    };
  }, []);
}
