import type { TSchema } from "typebox";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { type Fault, faults } from "../../../shared/schema/problems.ts";
import type { AstmProfile } from "../../protocols/astm/profile.ts";
import type { ResultFiles } from "../../protocols/file/profile.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import type { TextProfile } from "../../protocols/text/profile.ts";
import { advice } from "../../runtime/did-you-mean.ts";
import { dotted } from "../../runtime/yaml-lines.ts";
import { astmProfile } from "./astm.ts";
import { formProblems } from "./checks.ts";
import { type ProfileProblem, readDocument } from "./document.ts";
import { type BaseOf, BaseError, resolveForm } from "./extend.ts";
import { type AnyProfileForm, fileProfile, FileProfileForm, patternProblems } from "./file.ts";
import { hl7Profile } from "./hl7.ts";
import { ProfileForm } from "./schema.ts";
import { textProfile } from "./text.ts";

// Reads the text of a profile: the resolved form and the profile that it makes, or every problem with its line.

export type TableProfile = AstmProfile | Hl7Profile | TextProfile | ResultFiles;

export interface ReadProfile {
  /** The whole, without `extends`. */
  readonly form: AnyProfileForm;
  readonly profile: TableProfile;
}

export interface ProfileProblems {
  readonly problems: readonly ProfileProblem[];
}

const validator = compileLater(ProfileForm);
const fileValidator = compileLater(FileProfileForm);

/** Reads the text of a profile. `where`: its file, for the sentences. `captures`: see formProblems. Never throws. */
export function readProfile(
  text: string,
  where: string,
  baseOf: BaseOf,
  captures: number | null,
): ReadProfile | ProfileProblems {
  const document = readDocument(text);
  if ("words" in document) return { problems: [problemAt(where, document.line, [], document.words)] };
  const at = (steps: readonly string[], words: string) => problemAt(where, document.lineOf(steps), steps, words);
  try {
    const form = resolveForm(document.values, baseOf);
    if (form["protocol"] === "file") {
      if (fileValidator.Check(form)) {
        const found = patternProblems(form);
        if (found.length > 0) return { problems: inOrder(found.map(({ steps, words }) => at(steps, words))) };
        return { form, profile: fileProfile(form) };
      }
      const found = faults(fileValidator, form);
      return { problems: inOrder(found.map((fault) => at(fault.steps, sentence(fault, FileProfileForm)))) };
    }
    if (!validator.Check(form)) {
      const found = faults(validator, form);
      return { problems: inOrder(found.map((fault) => at(fault.steps, sentence(fault, ProfileForm)))) };
    }
    const found = formProblems(form, captures);
    if (found.length > 0) return { problems: inOrder(found.map(({ steps, words }) => at(steps, words))) };
    return { form, profile: profileOf(form) };
  } catch (error) {
    if (error instanceof BaseError) return { problems: [at(["extends"], `extends ${error.message}`)] };
    // A capability needs what the profile does not state.
    return { problems: [at(["capabilities"], errorMessage(error))] };
  }
}

/** Makes a shipped profile, whose meaning the tests check: an agent starts without trying each pattern. @throws an Error */
export function readShipped(form: unknown, where: string): ReadProfile {
  if (fileValidator.Check(form)) return { form, profile: fileProfile(form) };
  if (!validator.Check(form)) throw new Error(`${where} is no profile`);
  return { form, profile: profileOf(form) };
}

/** Makes the profile of a form. @throws an Error that says what of it has no meaning */
function profileOf(form: ProfileForm): TableProfile {
  switch (form.protocol) {
    case "astm":
      return astmProfile(form);
    case "hl7":
      return hl7Profile(form);
    case "text":
      return textProfile(form);
  }
}

function problemAt(where: string, line: number, steps: readonly string[], words: string): ProfileProblem {
  return { line, steps, message: `${where}:${line} ${words}` };
}

function inOrder(problems: readonly ProfileProblem[]): ProfileProblem[] {
  return problems.toSorted((one, other) => one.line - other.line);
}

function sentence({ code, steps, place, words }: Fault, schema: TSchema): string {
  if (code === "CUT") return `${place} ${words}`;
  const name = dotted(steps) || "the profile";
  if (code !== "UNEXPECTED") return `${name} ${words}`;
  return `${name} is an unknown key, ${advice(steps.at(-1) ?? "", keysAt(schema, steps.slice(0, -1)))}`;
}

interface Schema {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}

/** Returns the keys that the schema knows at a path, in each of its alternatives. */
function keysAt(schema: TSchema | undefined, steps: readonly string[]): string[] {
  if (schema === undefined) return [];
  const { properties = {}, patternProperties = {}, items, anyOf = [] } = schema as Schema;
  const [step, ...rest] = steps;
  if (step === undefined) return [...Object.keys(properties), ...anyOf.flatMap((each) => keysAt(each, steps))];
  const inner = /^\d+$/.test(step) ? items : (properties[step] ?? Object.values(patternProperties)[0]);
  return [...keysAt(inner, rest), ...anyOf.flatMap((each) => keysAt(each, steps))];
}
