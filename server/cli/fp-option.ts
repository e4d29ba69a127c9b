import { InvalidArgumentError } from "commander";
import { type FpKind, fpForm, isFp } from "../../shared/api/fp.ts";

/** Reads an option that names a record of this kind. The database is not asked for a text that is no fp. */
export function fpOption(kind: FpKind): (text: string) => string {
  return (text) => {
    if (isFp(kind, text)) return text;
    throw new InvalidArgumentError(`expected ${fpForm(kind)}`);
  };
}
