import { merged } from "../devices/table/extend.ts";
import type { AnyProfileForm } from "../devices/table/file.ts";
import type { ProfileForm } from "../devices/table/schema.ts";

// The profile that a person makes: a base and patches, one for each click. There is no other state, so undo drops the last patch.

/** A part of a profile's form: maps merge, lists and texts replace, null removes. */
export type Patch = Readonly<Record<string, unknown>>;

export interface Draft<Form extends AnyProfileForm = ProfileForm> {
  readonly base: Form;
  readonly patches: readonly Patch[];
}

/** Max clicks of a draft. */
export const PATCHES_MAX = 500;

/** Returns the form of a draft as it is now. It is not checked: `readProfileText` checks its text. */
export function formOf<Form extends AnyProfileForm>({ base, patches }: Draft<Form>): Form {
  return patches.reduce<unknown>((form, patch) => merged(form, patch), base) as Form;
}

/** Returns the draft after a click. */
export function withPatch<Form extends AnyProfileForm>({ base, patches }: Draft<Form>, patch: Patch): Draft<Form> {
  return { base, patches: [...patches, patch] };
}

/** Returns the draft without its last click. */
export function undo<Form extends AnyProfileForm>({ base, patches }: Draft<Form>): Draft<Form> {
  return { base, patches: patches.slice(0, -1) };
}
