import { parseCookie } from "cookie";
import { UNIT_SYSTEMS, type UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { UNITS_COOKIE } from "../types/settings/session.ts";
import type { CookieRequest } from "./cookies.ts";

// The units that a user chose in a browser. The page sets the cookie, so that files and reports follow it too.

/** @returns undefined without a choice: the units of the clinic then */
export function unitsOfUser({ headers }: CookieRequest): UnitChoice | undefined {
  const chosen = parseCookie(headers.cookie ?? "")[UNITS_COOKIE];
  const system = UNIT_SYSTEMS.find((each) => each === chosen);
  if (system === undefined && chosen !== "sent") return undefined;
  return { system: system ?? null, exceptions: {} };
}
