import type { AnyProfileForm } from "../../devices/table/file.ts";
import type { ProfileForm } from "../../devices/table/schema.ts";
import { plural } from "../../../shared/platform/cli/output.ts";
import { isAnalyteName } from "../../../shared/clinical/analytes/analytes.ts";

// The effects of somebody else's profile, for the person who decides about it. It can run no code, but it can name the wrong
// patient, hide rows, and call a test by another name.

export interface Effect {
  readonly code:
    | "ROWS_WITHOUT_RESULT"
    | "UNITS"
    | "ANALYTES"
    | "OTHER_ANALYTE"
    | "IDENTITY"
    | "CONTROLS"
    | "COLLECTS"
    | "FLAGS"
    | "ORDERS"
    | "CAPABILITIES";
  readonly values: readonly string[];
}

/** Keys of `controls` that call a run a control. The others are places of its material. */
const DECIDING = new Set(["order", "withoutPatient", "expiredLot", "patientProcessing"]);

/** Lists the effects of a profile in the order of their weight. */
export function effectsOf(form: AnyProfileForm): Effect[] {
  const { rows = [], results, analytes: named = {}, patient } = form;
  // A profile of files has neither orders nor collecting, and no code.
  const message: Partial<ProfileForm> = form.protocol === "file" ? {} : form;
  const { controls, collect, flags, orders, capabilities = [] } = message;
  const renamed = Object.entries(named).filter(([code, analyte]) => isAnalyteName(code) && code !== analyte);
  const identity = Object.keys(patient ?? {});
  const found: (Effect | null)[] = [
    effect(
      "OTHER_ANALYTE",
      renamed.map(([code, analyte]) => `${code} = ${analyte}`),
    ),
    effect("IDENTITY", identity),
    effect(
      "ROWS_WITHOUT_RESULT",
      rows.map(({ as }) => as),
    ),
    effect("UNITS", unitsIn(results?.unit)),
    effect(
      "ANALYTES",
      Object.entries(named).map(([code, analyte]) => `${code} = ${analyte}`),
    ),
    effect(
      "FLAGS",
      Object.entries(flags ?? {}).map(([mark, meaning]) => `${mark} = ${meaning || "nothing"}`),
    ),
    effect(
      "CONTROLS",
      Object.keys(controls ?? {}).filter((key) => DECIDING.has(key)),
    ),
    effect("COLLECTS", collect === undefined ? [] : [String(collect.hours)]),
    effect("ORDERS", orders === undefined ? [] : ["orders"]),
    effect("CAPABILITIES", capabilities),
  ];
  return found.filter((each) => each !== null);
}

function effect(code: Effect["code"], values: readonly string[]): Effect | null {
  return values.length === 0 ? null : { code, values };
}

/** The units that the profile sets by itself. */
function unitsIn(source: unknown): string[] {
  if (Array.isArray(source)) return source.flatMap(unitsIn);
  if (typeof source !== "object" || source === null) return [];
  const own = "is" in source && typeof source.is === "string" ? [source.is] : [];
  const mapped =
    "map" in source && typeof source.map === "object" && source.map !== null ? Object.values(source.map) : [];
  return [...own, ...mapped.map(String)];
}

/** Formats an effect as a sentence of the command line. */
export function effectText({ code, values }: Effect): string {
  const listed = values.join(", ");
  switch (code) {
    case "OTHER_ANALYTE":
      return `CHECK THIS: it calls a known code by another analyte: ${listed}`;
    case "IDENTITY":
      return `it says itself where the patient is: ${listed}`;
    case "ROWS_WITHOUT_RESULT":
      return `${values.length === 1 ? "1 rule calls" : `${values.length} rules call`} rows no results: ${listed}`;
    case "UNITS":
      return `it sets ${plural(values.length, "unit")}: ${listed}`;
    case "ANALYTES":
      return `it names ${plural(values.length, "code")}: ${listed}`;
    case "FLAGS":
      return `it gives ${plural(values.length, "mark")} a meaning: ${listed}`;
    case "CONTROLS":
      return `it calls some results controls, which are no patient's: ${listed}`;
    case "COLLECTS":
      return `it joins messages of one sample within ${listed} h`;
    case "ORDERS":
      return "it can send orders to the device: off until agent.yaml has orders: true for the device";
    case "CAPABILITIES":
      return `it switches on: ${listed}`;
  }
}
