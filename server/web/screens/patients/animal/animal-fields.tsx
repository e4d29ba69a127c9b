import type { VNode } from "preact";
import { SEXES, TEXT_MAX } from "../../../../dashboard/types/animals.ts";
import { SPECIES } from "../../../../dashboard/types/patients.ts";
import { Field } from "../../../ui/form/field.tsx";
import { word } from "../../../ui/words/words.ts";
import type { AnimalDraft } from "./draft.ts";
import { t } from "./texts.ts";

export interface FieldsProps {
  readonly draft: AnimalDraft;
  readonly change: (changed: Partial<AnimalDraft>) => void;
  /** The words for what is wrong with a field; null while it may still be typed. */
  readonly faultOf: (field: string) => string | null;
  /** Notes that the user left a field. */
  readonly leave: (field: string) => void;
}

/** Name, species and what else the intervals depend on. */
export function AnimalFields({ draft, change, faultOf, leave }: FieldsProps) {
  return (
    <fieldset class="animal-fields">
      <legend>{t("animal")}</legend>
      <Field label={t("name")} fault={faultOf("name")}>
        <input
          autocomplete="off"
          required
          maxLength={TEXT_MAX.name}
          value={draft.name}
          onInput={({ currentTarget }) => change({ name: currentTarget.value })}
        />
      </Field>
      <Field label={t("species")} fault={faultOf("species")}>
        {choices(SPECIES, draft.species, t("chooseSpecies"), (species) => change({ species }), true)}
      </Field>
      <Field label={t("breed")} fault={faultOf("breed")}>
        <input
          autocomplete="off"
          maxLength={TEXT_MAX.breed}
          value={draft.breed}
          onInput={({ currentTarget }) => change({ breed: currentTarget.value })}
        />
      </Field>
      <Field label={t("sex")} fault={faultOf("sex")}>
        {choices(SEXES, draft.sex, t("notKnown"), (sex) => change({ sex }))}
      </Field>
      <Field label={t("born")} fault={faultOf("date_of_birth")}>
        <input
          type="date"
          value={draft.date_of_birth}
          onInput={({ currentTarget }) => change({ date_of_birth: currentTarget.value })}
          onBlur={() => leave("date_of_birth")}
        />
      </Field>
      <Field label={t("weight")} fault={faultOf("weight_kg")}>
        <input
          inputMode="decimal"
          autocomplete="off"
          maxLength={10}
          value={draft.weight}
          onInput={({ currentTarget }) => change({ weight: currentTarget.value })}
          onBlur={() => leave("weight_kg")}
        />
      </Field>
    </fieldset>
  );
}

/** A list of stored words. A chosen word that the list lacks came from another door, and stays possible. */
function choices(
  words: readonly string[],
  chosen: string,
  empty: string,
  choose: (word: string) => void,
  required = false,
): VNode<Record<string, unknown>> {
  const all = chosen === "" || words.includes(chosen) ? words : [chosen, ...words];
  return (
    <select value={chosen} required={required} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      <option value="">{empty}</option>
      {all.map((each) => (
        <option key={each} value={each}>
          {word(each)}
        </option>
      ))}
    </select>
  );
}
