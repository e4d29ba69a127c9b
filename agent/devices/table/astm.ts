import type { AstmProfile } from "../../protocols/astm/profile.ts";
import type { Pattern } from "../../protocols/profile.ts";
import { withAstmCapabilities } from "../capabilities/capabilities.ts";
import { baseOf, materialOf, namesOf, stated, wordsByMark } from "./base.ts";
import { readPattern } from "./pattern.ts";
import type { ProfileForm } from "./schema.ts";
import { conditionOf, sourceOf } from "./source.ts";

// A profile of LIS02-A2 from its file.

export function astmProfile(form: ProfileForm): AstmProfile {
  const { link, charset, patient = {}, sample = {}, results = {}, doubts = {}, statuses } = form;
  const { rows = [], controls = {}, collect, orders, fields, capabilities = [], reagent } = form;
  const { name, owner, species } = patient;
  const names = namesOf(results, ["R"]);
  const unit = results.unit === undefined ? undefined : sourceOf(results.unit, ["R"]);
  const remarks = rows.map(({ when, unless }) => conditionOf(when, unless, ["R"]));
  const urine =
    sample.urine === undefined || sample.urine === true ? undefined : conditionOf(sample.urine, undefined, ["R"]);
  const [ownerOf, speciesOf] = [owner, species].map((each) =>
    each === undefined || each === "none" ? undefined : sourceOf(each, ["P"]),
  );
  const material = materialOf(controls, ["P", "O"]);
  const nameOf = name === undefined ? undefined : sourceOf(name, ["O"]);
  const [reagentName, reagentLot] = [reagent?.name, reagent?.lot].map((each) =>
    each === undefined ? undefined : sourceOf(each, ["O", "R"]),
  );
  const profile: AstmProfile = {
    protocol: "astm",
    link: link as AstmProfile["link"],
    ...baseOf(form),
    ...stated({
      code: names && ((r) => names({ R: r })),
      // A unit that the file does not state is the standard's.
      unit: unit && ((r) => unit({ R: r })),
      species: speciesOf && ((p) => speciesOf({ P: p })),
      owner: ownerOf && ((p) => ownerOf({ P: p })),
      nameOnSample: nameOf && ((o) => nameOf({ O: o })),
      reagent:
        reagentName &&
        reagentLot &&
        ((o, r) => {
          const records = r === null ? { O: o } : { O: o, R: r };
          return { name: reagentName(records), lot: reagentLot(records) };
        }),
      skipOrder: typeof controls.order === "string" ? readPattern(controls.order) : undefined,
      alwaysNamesPatient: controls.withoutPatient,
      control: material && (({ P, O }) => material({ ...(P && { P }), ...(O && { O }) })),
      urine: urine && ((r) => urine({ R: r })),
      isRemark: remarks.length === 0 ? undefined : (r) => remarks.some((holds) => holds({ R: r })),
      statuses,
      doubtFlags: wordsByMark(doubts.flags),
      doubtMarks: wordsByMark(doubts.besideValue),
      collect: collect && { hours: collect.hours, sample: numberOf(collect.number) },
      orders: orders && stated({ species: orders.species as number | undefined }),
      ...{ fields, charset },
    } satisfies { [Key in keyof AstmProfile]?: AstmProfile[Key] | undefined }),
  };
  return withAstmCapabilities(profile, capabilities);
}

/** A barcode, not a running number: at least six characters with a digit, without a blank. Or an accession of the agent. */
const BARCODE = /^(?:(?=.*\d)[\w./-]{6,}|V[34679ACDEFHJKMNPQRTVWXY]{7})$/;

function numberOf(number: string | undefined): Pattern {
  return number === "barcode" || number === undefined ? BARCODE : readPattern(number);
}
