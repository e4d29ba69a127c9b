import { ownProfile, profileById } from "../../../devices/index.ts";
import { isOwn } from "../../../devices/own/reference.ts";
import type { AnyProfileForm } from "../../../devices/table/file.ts";
import { shippedForm } from "../../../devices/table/load.ts";
import { blankForm } from "../../../maker/files/open-file.ts";
import { PageError } from "../page-error.ts";

/** @returns null for a profile that is code, which no click can change */
export function formOfBase(base: string): AnyProfileForm | null {
  const blank = blankForm(base);
  if (blank !== null) return blank;
  if (profileById(base) === undefined) throw new PageError(409, `${base} is not a profile: load the page again`);
  const own = isOwn(base) ? ownProfile(base) : null;
  return own !== null && "form" in own ? own.form : shippedForm(base);
}
