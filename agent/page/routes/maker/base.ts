import { ownProfile, profileById } from "../../../devices/index.ts";
import { isOwn } from "../../../devices/own/reference.ts";
import { shippedForm } from "../../../devices/table/load.ts";
import type { ProfileForm } from "../../../devices/table/schema.ts";
import { isTreeProtocol } from "../../../maker/tree.ts";
import { PageError } from "../page-error.ts";

/** @returns null for a profile without a tree of its messages, which no click can change */
export function formOfBase(base: string): ProfileForm | null {
  if (profileById(base) === undefined) throw new PageError(409, `${base} is not a profile: load the page again`);
  const own = isOwn(base) ? ownProfile(base) : null;
  const form = own !== null && "form" in own ? own.form : shippedForm(base);
  return form !== null && form.protocol !== "file" && isTreeProtocol(form.protocol) ? form : null;
}
