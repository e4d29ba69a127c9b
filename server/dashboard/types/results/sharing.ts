import type { Language } from "../../../../shared/api/language.ts";
import type { Refusal } from "../refusals.ts";
import type { MailReason } from "../settings/mail-server.ts";

// The report of a study for the owner: links, and the PDF by e-mail.

/** Days for which a link opens. */
export const LINK_DAYS = [1, 7, 30] as const;
export type LinkDays = (typeof LINK_DAYS)[number];
export const USUAL_DAYS: LinkDays = 7;

/** Max links of a study that open. */
export const LINKS_MAX = 20;

/** Max e-mails with reports of a clinic in an hour. */
export const MAILS_MAX = 60;

/** Seconds between two e-mails with the same report to the same address. */
export const MAIL_PAUSE_S = 60;

export interface SharedLink {
  id: string;
  by: string;
  language: Language;
  made_at: string;
  ends_at: string;
  /** Why it opens no more; null while it does. `moved`: the study is not with the animal any more for which it was made. */
  ended: "revoked" | "expired" | "moved" | null;
  /** Presses of the button on its page; null before the first one. */
  opened: { first_at: string; last_at: string; times: number } | null;
}

/** The machines that reach the address of a link. */
export type Reach = "this machine" | "clinic network" | "internet";

/** The response to `GET .../results/:fp/sharing`. */
export interface SharingState {
  /** Why nobody may share it now; null if everybody of the staff may. */
  refusal: Refusal | null;
  /** The newest first. */
  links: SharedLink[];
  /** The start of the address of a link, such as https://vetwire.example.com. */
  origin: string;
  reach: Reach;
  owner: { name: string | null; email: string | null; language: Language | null } | null;
  /** Whether the server has a mail server. */
  sends_mail: boolean;
}

interface SharedReport {
  /** The user saw this one. */
  revision: number;
  language: Language;
  zone: string;
}

/** The body of `POST .../results/:fp/links`. */
export interface NewLinkBody extends SharedReport {
  days: LinkDays;
}

export interface MadeLink {
  id: string;
  /** The complete address. It is shown once. */
  url: string;
  ends_at: string;
}

/** The body of `POST .../results/:fp/report-mail`. */
export interface ReportMailBody extends SharedReport {
  to: string;
}

/** The outcome of an e-mail. */
export interface MailResult {
  ok: boolean;
  reason: MailReason;
}
