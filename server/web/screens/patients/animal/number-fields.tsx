import { useLayoutEffect, useRef } from "preact/hooks";
import { NUMBER_TYPES, NUMBERS_MAX, TEXT_MAX } from "../../../../dashboard/types/animals.ts";
import { Field } from "../../../ui/form/field.tsx";
import type { FieldsProps } from "./animal-fields.tsx";
import { numberWord, t } from "./texts.ts";

/** Microchip, card number and other numbers by which a result finds its animal. */
export function NumberFields({
  draft: { numbers },
  change,
  faultOf,
  leave,
  warningOf,
}: FieldsProps & { warningOf: (field: string) => string | null }) {
  const frame = useRef<HTMLFieldSetElement>(null);
  const wasAdded = useRef(false);
  useLayoutEffect(() => {
    if (!wasAdded.current) return;
    wasAdded.current = false;
    [...(frame.current?.querySelectorAll("input") ?? [])].at(-1)?.focus();
  }, [numbers.length]);
  return (
    <fieldset class="animal-fields" ref={frame}>
      <legend>{t("numbers")}</legend>
      {numbers.map(({ type, value }, index) => {
        const field = `identifiers/${index}`;
        return (
          <Field
            key={index}
            label={type === null ? t("number") : numberWord(type)}
            fault={faultOf(field)}
            warning={warningOf(field)}
          >
            <input
              autocomplete="off"
              spellcheck={false}
              maxLength={TEXT_MAX.number}
              value={value}
              onInput={({ currentTarget }) =>
                change({ numbers: numbers.with(index, { type, value: currentTarget.value }) })
              }
              onBlur={() => leave(field)}
            />
          </Field>
        );
      })}
      {numbers.length < NUMBERS_MAX && (
        <p class="actions animal-wide">
          <span class="quiet">{t("addNumber")}</span>
          {NUMBER_TYPES.map((type) => (
            <button
              key={type}
              type="button"
              class="animal-add"
              onClick={() => {
                wasAdded.current = true;
                change({ numbers: [...numbers, { type, value: "" }] });
              }}
            >
              {numberWord(type)}
            </button>
          ))}
        </p>
      )}
    </fieldset>
  );
}
