// The API keys of a clinic, as the settings show them.

export type KeyHolder = "integration" | "device" | "partner";

export interface KeyEntry {
  id: string;
  name: string;
  type: KeyHolder;
  permissions: string[];
  /** The first and last characters, by which a person recognises the key. */
  key: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  state: "active" | "expired" | "revoked";
}

/** The response to `GET .../keys`: active keys first, newer ones first. */
export interface KeyList {
  keys: KeyEntry[];
  active: number;
  active_max: number;
}

/** The permissions of a key, in the order in which the page shows them. */
export const keyPermissions = [
  "clinic.patient.view",
  "clinic.lab.view",
  "clinic.soap.view",
  "clinic.calendar.view",
  "clinic.inventory.view",
  "clinic.audit.view",
  "clinic.lab.ingest",
  "clinic.sync.write",
] as const;

/** The permissions that the agent of a clinic PC needs: the clinic's patients, their appointments, and sending results. */
export const agentPermissions = ["clinic.patient.view", "clinic.calendar.view", "clinic.lab.ingest"] as const;

export type KeyPermission = (typeof keyPermissions)[number];

/** A part of a clinic's data that a key opens. `sending` is the work of an agent, `entering` that of practice software. */
export type KeyArea = "patients" | "results" | "records" | "calendar" | "stock" | "trails" | "sending" | "entering";

/**
 * All that each permission opens. The published specification names no permission for results and records, so that
 * clinic.patient.view opens them too; the two narrower ones are additions.
 */
export const keyAreas: Readonly<Record<KeyPermission, readonly KeyArea[]>> = {
  "clinic.patient.view": ["patients", "results", "records"],
  "clinic.lab.view": ["results"],
  "clinic.soap.view": ["records"],
  "clinic.calendar.view": ["calendar"],
  "clinic.inventory.view": ["stock"],
  "clinic.audit.view": ["trails"],
  "clinic.lab.ingest": ["sending"],
  "clinic.sync.write": ["entering"],
};

export const KEY_DAYS_MAX = 3650;

export interface NewKeyBody {
  name: string;
  type: KeyHolder;
  permissions: KeyPermission[];
  /** Null for a key that never expires. */
  expires_in_days: number | null;
}

/** The body of `POST .../keys/:id/roll`. */
export interface RollBody {
  /** Hours for which the old key still works. */
  grace_hours: number;
  /** End of the new key. */
  expires_in_days: number | null;
}

/** A new key. No later response contains it. */
export interface MadeKey {
  key: string;
}
