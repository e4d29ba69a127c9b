import type { Language } from "../../../../shared/api/language.ts";
import type { Reason } from "../../../../shared/api/reason.ts";
import { isMailCode, mailText } from "./mail-server.ts";
import { isWebhookCode, webhookText } from "../webhook-reasons.ts";

// Settings, Notifications: who is notified of alerts, and when.

/** Receivers of a clinic. */
export const CHANNELS_MAX = 20;

/** Seconds between two tests of a clinic, so that the button cannot flood a mailbox. */
export const TEST_PAUSE_S = 10;

/** Times of clocks on the wall in the clinic's time zone, such as `22:00`. */
export interface QuietHoursShown {
  from: string;
  until: string;
  /** Critical values are notified immediately. */
  exempt_critical: boolean;
}

/** The response to `GET notifications`. */
export interface NotificationState {
  /** Whether the server has a mail server. */
  sends_mail: boolean;
  quiet: QuietHoursShown | null;
  channels: ChannelShown[];
}

export interface ChannelShown {
  id: string;
  type: "email" | "webhook";
  /** The e-mail address or the URL. */
  target: string;
  sent_at: string | null;
  /** Why the last attempt failed, and what to do; null after a success. */
  fault: { at: string; reason: string; why?: Reason } | null;
  waiting: number;
}

/** The body of `PUT notifications/quiet-hours`. */
export interface QuietHoursBody {
  quiet: QuietHoursShown | null;
  /** Those that the user saw: no others are replaced. */
  seen: QuietHoursShown | null;
}

/** The body of `POST notifications/channels`. */
export interface NewChannelBody {
  type: "email" | "webhook";
  target: string;
}

/** The response to a new channel. */
export interface MadeChannel {
  id: string;
  /** With which the receiver of a webhook checks the signature. It is shown once. */
  secret: string | null;
}

/** The response to the test button. */
export interface TestOutcome {
  ok: boolean;
  /** The reason, in English, and by its code. */
  said: string;
  why: Reason;
}

/** Returns the outcome of an e-mail or a webhook in words. @returns undefined for no code of either */
export function deliveryText({ code, values }: Reason, language: Language): string | undefined {
  if (isWebhookCode(code)) return webhookText({ code, values }, language);
  return isMailCode(code) ? mailText({ code, values }, language) : undefined;
}
