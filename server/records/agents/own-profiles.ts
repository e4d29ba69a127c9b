import { createHash } from "node:crypto";
import { PROFILE_REFERENCE, WANTED_PROFILES_MAX, type WantedProfile } from "../../../shared/api/configuration.ts";
import { query, type Session } from "../../database/query.ts";

// A clinic's own profiles of devices. The agents check and read them; the server keeps their texts, and a revision never changes.

/** Max revisions of a clinic. */
export const OWN_PROFILES_MAX = 200;

/** @returns the profile with its revision, as the text calls itself; null if it does not */
export function referenceIn(text: string): string | null {
  const profile = /^profile:[ \t]*["']?(own\/[^\s"'#]+)/m.exec(text)?.[1];
  const revision = /^revision:[ \t]*(\d+)/m.exec(text)?.[1];
  const reference = `${profile ?? ""}@${revision ?? ""}`;
  return new RegExp(`^${PROFILE_REFERENCE}$`).test(reference) ? reference : null;
}

export interface StoredProfile extends WantedProfile {
  readonly saved_at: number;
}

/** Lists the revisions of a clinic, the last stored one first. */
export async function listOwnProfiles(session: Session, clinicId: number): Promise<StoredProfile[]> {
  return session.all(byClinic, { clinicId });
}

/** The user who added a revision, or the key of the agent that sent it. */
export type SavedBy = { readonly userId: number } | { readonly keyId: number };

/** Stores a revision. The same text again changes nothing. @returns false if the revision is stored with another text */
export async function saveOwnProfile(
  session: Session,
  { clinicId, by, ...profile }: { profile: string; text: string; by: SavedBy; now: number; clinicId: number },
): Promise<boolean> {
  const sha256 = createHash("sha256").update(profile.text).digest("hex");
  const saved = { userId: null, keyId: null, ...by };
  await session.all(insert, { ...profile, ...saved, clinicId, sha256 });
  const stored = await session.first(byReference, { clinicId, profile: profile.profile });
  return stored?.sha256 === sha256;
}

/** Returns the profiles of a clinic that a text of devices names. */
export async function profilesNamed(session: Session, devices: string, clinicId: number): Promise<WantedProfile[]> {
  const named = [...new Set(devices.match(new RegExp(PROFILE_REFERENCE, "g")))].slice(0, WANTED_PROFILES_MAX);
  const found: WantedProfile[] = [];
  for (const profile of named) {
    const stored = await session.first(byReference, { clinicId, profile });
    if (stored !== undefined) found.push(stored);
  }
  return found;
}

const byClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("own_profile")
    .select(["profile", "sha256", "text", "saved_at"])
    .where("clinic_id", "=", p.clinicId)
    .orderBy("id", "desc"),
);

const byReference = query((db, p: { clinicId: number; profile: string }) =>
  db
    .selectFrom("own_profile")
    .select(["profile", "sha256", "text"])
    .where("clinic_id", "=", p.clinicId)
    .where("profile", "=", p.profile),
);

const insert = query(
  (
    db,
    p: {
      profile: string;
      text: string;
      sha256: string;
      userId: number | null;
      keyId: number | null;
      now: number;
      clinicId: number;
    },
  ) =>
    db
      .insertInto("own_profile")
      .values({
        ...{ profile: p.profile, text: p.text, sha256: p.sha256 },
        ...{ clinic_id: p.clinicId, saved_at: p.now },
        ...{ user_id: p.userId, api_key_id: p.keyId },
      })
      .onConflict((conflict) => conflict.columns(["clinic_id", "profile"]).doNothing()),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);
