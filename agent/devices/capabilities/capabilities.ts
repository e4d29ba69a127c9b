import type { AstmProfile } from "../../protocols/astm/profile.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import { answersInValue } from "./answers-in-value.ts";
import { dropExtraField } from "./drop-extra-field.ts";
import { marksByPlace } from "./marks-by-place.ts";
import { methodInBrackets } from "./method-in-brackets.ts";
import { resultTree } from "./result-tree.ts";
import { shiftMissingUnit } from "./shift-missing-unit.ts";

// A profile switches capabilities on by name, where its table is not enough. Each adds columns to the profile of its protocol.

const ofAstm: Readonly<Record<string, Partial<AstmProfile>>> = {
  "drop-extra-field": { mendRecord: dropExtraField },
  "shift-missing-unit": { mendRecord: shiftMissingUnit },
};

const ofHl7: Readonly<Record<string, (profile: Hl7Profile) => Partial<Hl7Profile>>> = {
  "answers-in-value": () => answersInValue,
  "marks-by-place": () => marksByPlace,
  "method-in-brackets": methodInBrackets,
  "result-tree": () => resultTree,
};

/** Returns the names of the capabilities of a protocol. */
export function capabilitiesOf(protocol: "astm" | "hl7" | "text"): readonly string[] {
  return protocol === "text" ? [] : Object.keys(protocol === "astm" ? ofAstm : ofHl7);
}

/** Switches on capabilities of ASTM, whose names are known. */
export function withAstmCapabilities(profile: AstmProfile, names: readonly string[]): AstmProfile {
  return names.reduce((known, name) => ({ ...known, ...ofAstm[name] }), profile);
}

/** Switches on capabilities of HL7, whose names are known. @throws an Error if one needs a column that the profile lacks */
export function withHl7Capabilities(profile: Hl7Profile, names: readonly string[]): Hl7Profile {
  return names.reduce((known, name) => ({ ...known, ...ofHl7[name]?.(known) }), profile);
}
