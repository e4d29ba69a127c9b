import type { OutsideValue } from "./results.ts";

// A clinic names the member who is responsible for a study, and keeps the remarks about it.

/** Hours after which a result that nobody looked at is listed on Today, and days for which it is. */
export const UNSEEN_HOURS = 24;
export const UNSEEN_DAYS = 7;

/** `worse` and `moved` are new revisions of the study: an abnormal value came or is worse, or its animal is another one. */
export type FollowUpEventKind = "assigned" | "remark" | "done" | "reopened" | "worse" | "moved";

/** A member of the clinic, by the public id. */
export interface FollowUpMember {
  id: string;
  name: string;
}

export interface FollowUpEvent {
  at: string;
  kind: FollowUpEventKind;
  /** Null for a change that a new revision made. */
  by: string | null;
  /** The member that it was assigned to; null for nobody. */
  member: string | null;
  /** The remark. */
  text: string | null;
  /** The analytes of a revision that are worse. */
  worse: string[];
}

/** The response to `GET .../results/:fp/follow-up`, and to each of its writes. */
export interface FollowUp {
  state: "none" | "open" | "done";
  responsible: FollowUpMember | null;
  /** The earliest first. */
  events: FollowUpEvent[];
  /** The members who may be responsible. */
  members: FollowUpMember[];
  /** The user who saw the revision in force; null before the first one. */
  seen: { by: string; at: string } | null;
}

/** The body of `POST .../follow-up/assign`. */
export interface AssignBody {
  /** Null: nobody is responsible. */
  member: string | null;
}

/** The body of `POST .../follow-up/remark`. */
export interface RemarkBody {
  text: string;
}

/** The body of `POST .../follow-up/done`: the revision that the user saw. */
export interface DoneBody {
  revision: number;
}

/** A study on Today: unseen for a day, or the user's own. */
export interface FollowedStudy {
  fp: string;
  revision: number;
  /** Null while the study has no animal. */
  patient: { fp: string; name: string; species: string } | null;
  device_name: string;
  modality: string;
  received_at: string;
  outside: OutsideValue[];
  outside_total: number;
  /** The responsible member, and since when. */
  responsible: { name: string; since: string } | null;
}
