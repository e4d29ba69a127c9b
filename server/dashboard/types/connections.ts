// Connections to patients of other clinics: requested, confirmed, refused and ended.

/** Days for which a request waits. A refusal and an end are shown as long. */
export const REQUEST_DAYS = 30;

/**
 * `withdrawn` and `closed` by the requesting clinic, `refused` and `ended` by a clinic that was connected before. Only a request
 * that is `open` lets its clinic see the patient.
 */
export type RequestState = "waiting" | "open" | "withdrawn" | "closed" | "refused" | "ended";

/** The state of a request at a connected clinic: it must confirm, it was informed, a user saw that, or it decided. */
export type HostState = "waiting" | "told" | "seen" | "confirmed" | "refused" | "ended";

/** The body of `PUT .../patients/:fp/connection`. */
export interface OpenConnectionBody {
  /** The user confirms that the patient's owner agreed. */
  consent: true;
}

/** The response to `PUT .../patients/:fp/connection`. */
export interface AskedConnection {
  /** Name of the patient, once the connection is open. Null while it waits, which an fp that nobody has does too. */
  name: string | null;
}

/** The response to `GET .../connections`: what the clinic requested and does not see, the newest first. */
export interface ConnectionList {
  requests: OwnRequest[];
}

export interface OwnRequest {
  patient_fp: string;
  state: "waiting" | "refused" | "ended";
  asked_at: string;
  /** Name of the requesting user. */
  by: string;
  ended_at: string | null;
  /** The clinic that refused or ended it. Null before, so that nobody learns which clinics have the patient. */
  clinic: string | null;
}

/** The answers of a connected clinic to the request of a later one. */
export type ConnectionAnswer = "confirm" | "refuse" | "end" | "seen";

/** Another clinic that requested a patient of this one, for the patient's page. */
export interface OtherClinic {
  clinic: { fp: string; name: string };
  state: RequestState;
  asked_at: string;
  opened_at: string | null;
  ended_at: string | null;
  /** Name of this clinic's user who confirmed, refused or ended it; null without one. */
  by: string | null;
  /** The answers that this clinic may give: confirm and refuse, or end. */
  may: "answer" | "end" | null;
}

/** Another clinic that waits for this one, or that sees a patient of this one since nobody looked. */
export interface ConnectionNews {
  patient: { fp: string; name: string; species: string };
  clinic: { fp: string; name: string };
  is_waiting: boolean;
  at: string;
}
