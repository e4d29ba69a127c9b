import { computed, effect, signal } from "@preact/signals";
import type { ClinicOfUser, Role, SessionState } from "../dashboard/types/settings/session.ts";
import { includesRole } from "../dashboard/types/settings/session.ts";
import { call, isSignedOut, pageUser, RequestError } from "./api.ts";
import { adoptLanguage, timeZone } from "./text.ts";
import { remember, remembered } from "./browser-storage.ts";

// The signed-in user, and the clinic that the page shows.

/** Undefined until the first response. */
export const session = signal<SessionState | undefined>(undefined);

const chosenClinic = signal(remembered("clinic"));

/** The shown clinic; undefined without a session or a clinic. */
export const clinic = computed<ClinicOfUser | undefined>(() => {
  if (session.value?.state !== "signed in") return undefined;
  const { clinics } = session.value;
  return clinics.find(({ fp }) => fp === chosenClinic.value) ?? clinics[0];
});

export function chooseClinic(fp: string): void {
  remember("clinic", fp);
  chosenClinic.value = fp;
}

/** Reads the state of the session from the server. */
export async function refreshSession(): Promise<void> {
  const state = await call<SessionState>("GET", "/session");
  isSignedOut.value = false;
  pageUser.value = state.state === "signed in" ? state.user.id : null;
  session.value = state;
}

/** Without a response the user stays signed in, and a banner shows the reason. */
export async function signOut(): Promise<void> {
  try {
    await call("POST", "/sign-out", {});
    await refreshSession();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
  }
}

/**
 * Whether the user has the rights of a role in the shown clinic. The server checks them; the page only hides what it would
 * refuse.
 */
export function may(role: Role): boolean {
  return clinic.value !== undefined && includesRole(clinic.value.role, role);
}

/** The path of the shown clinic below /clinic/v1. */
export function clinicPath(): string {
  return `/clinics/${clinic.value?.fp ?? ""}`;
}

effect(() => {
  const shown = clinic.value;
  timeZone.value = shown?.time_zone ?? undefined;
  if (shown !== undefined) adoptLanguage(shown.language);
});

effect(() => {
  if (isSignedOut.value && session.peek()?.state === "signed in") session.value = { state: "signed out" };
});
