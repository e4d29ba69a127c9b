import { InvalidArgumentError, Option } from "commander";
import { type FpKind, fpForm, isFp } from "../../../shared/api/fp.ts";
import { defaultPlace } from "../../../shared/platform/cli/places.ts";

// Options that several commands of the server have.

export interface DataOption {
  readonly data: string;
}

export function dataOption(): Option {
  return new Option("--data <dir>", "data folder").default(defaultPlace("data"));
}

export interface ClinicOption {
  readonly clinic: string;
}

export function clinicOption(description: string): Option {
  return new Option("--clinic <fp>", description).argParser(fpParser("clinic"));
}

/** Creates the parser of an option that names a record of this kind. No text but an fp reaches the database. */
export function fpParser(kind: FpKind): (text: string) => string {
  return (text) => {
    if (isFp(kind, text)) return text;
    throw new InvalidArgumentError(`expected ${fpForm(kind)}`);
  };
}
