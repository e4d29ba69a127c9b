import type { Language } from "../../../../shared/api/language.ts";
import type { UnitChoice } from "../../../../shared/clinical/units/unit-choice.ts";

// The state of a session at the dashboard, as the server sends it to the page.

/** A reader looks, a member of the staff also places results and writes records, an admin also manages users and keys. */
export type Role = "admin" | "staff" | "reader";

/** Pages with sessions of their own: the dashboard of the clinics, and the console of the server's operator. */
export type Realm = "clinic" | "operator";

/** The cookie of a user who reads results in other units than the clinic: a system, or `sent`. */
export const UNITS_COOKIE = "vetwire-units";

/** The roles by their rights, the fewest first. */
export const roles: readonly Role[] = ["reader", "staff", "admin"];

/** Whether a role has all rights of another one. */
export function includesRole(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

export interface ClinicOfUser {
  fp: string;
  name: string;
  role: Role;
  /** Null if the clinic chose none: the browser's then. */
  language: Language | null;
  /** IANA name; null if the clinic chose none: the browser's then. */
  time_zone: string | null;
  /** Whether connections of other clinics to its patients wait for its confirmation. */
  confirms_connections: boolean;
  /** Hours without results after which an order counts as not run. */
  not_run_hours: number;
  /** Address of a study in the archive's viewer, with a place for its UID; null without one. */
  viewer_template: string | null;
  /** The units in which its users read results. */
  units: UnitChoice;
}

/** The response to `GET /clinic/v1/session`. */
/** `has_provider`: users can sign in through a provider, too. */
export type SessionState =
  | { state: "set-up"; has_clinics: boolean }
  | { state: "signed out"; has_provider?: true }
  | { state: "signed in"; user: SignedInUser; clinics: ClinicOfUser[] };

export interface SignedInUser {
  id: string;
  name: string;
  has_second_factor: boolean;
  /** When ten wrong codes had followed the right password; null if they did not. A new password sets it back. */
  password_known_at: string | null;
}

/** The page of each realm to which the provider of single sign-on sends the browser back. */
export const RETURN_PATHS: Readonly<Record<Realm, string>> = { clinic: "/dashboard/oidc", operator: "/operator/oidc" };

/** The response to `POST /clinic/v1/oidc/start`: the address of the provider. */
export interface OidcStart {
  url: string;
}

/** The body of `POST /clinic/v1/oidc/finish`: the query with which the provider sent the browser back. */
export interface OidcFinishBody {
  query: string;
}

/** The body of `POST /clinic/v1/set-up`. */
export interface SetUpBody {
  code: string;
  name: string;
  password: string;
  /** Name of the first clinic. Needed if the server has none. */
  clinic_name?: string;
}

/** The body of `POST /clinic/v1/sign-in`. */
export interface SignInBody {
  name: string;
  password: string;
  /** Code of the second factor, or a recovery code. */
  totp?: string;
}

/** The response to `POST /clinic/v1/sign-in`. */
export interface SignedInAnswer {
  /** Set if a recovery code was used. */
  recovery_codes_left: number | null;
}

export const PASSWORD_CHARS_MIN = 10;
export const PASSWORD_CHARS_MAX = 256;
