import type { Language } from "../../../shared/api/language.ts";
import type { FilingCode } from "../../../shared/api/filing-code.ts";

// Why a message is in its state: a code for programs. The words of a code with values are stored beside it, those of the others are made
// here, where a person reads them.

/** Why a message of practice software changes nothing. The server's own reasons begin with `REGISTRY.` too. */
export type RegistryCode =
  /** It is about a visit, a response, or for training. */
  | "REGISTRY.NO_EFFECT"
  | "REGISTRY.UNREADABLE"
  | "REGISTRY.MISSING"
  | "REGISTRY.WRONG_FORM"
  | "REGISTRY.UNKNOWN_VALUE"
  | "REGISTRY.NOT_TAKEN"
  | "REGISTRY.UNKNOWN_KEY"
  | "REGISTRY.SAME_KEY";

export type MessageCode =
  /** The agent ended each time it worked on the message. */
  | "MESSAGE.SET_ASIDE"
  /** A user at the dashboard took its studies from the list. */
  | "MESSAGE.DISMISSED"
  | "MESSAGE.DAMAGED"
  | "MESSAGE.NO_DEVICE"
  | "MESSAGE.INCOMPLETE"
  | RegistryCode
  /** The reason of its study: why no patient matches, or why the server refused it. */
  | FilingCode;

const english: Partial<Record<string, string>> = {
  "MESSAGE.SET_ASIDE": "the agent ended each time it worked on this, so it was set aside",
  "MESSAGE.DISMISSED": "a person at the desk took it from the list",
  "REGISTRY.NO_EFFECT": "it is about a visit, a response or for training: no animal and no order changes",
} satisfies Partial<Record<MessageCode, string>>;

const turkish: Partial<Record<string, string>> = {
  "MESSAGE.SET_ASIDE": "ajan bununla her çalıştığında sona erdi, bu yüzden kenara ayrıldı",
  "MESSAGE.DISMISSED": "bir kullanıcı bunu listeden aldı",
  "REGISTRY.NO_EFFECT": "bir ziyaret, yanıt veya eğitim iletisidir: hiçbir hayvan ve istem değişmez",
} satisfies Partial<Record<MessageCode, string>>;

/** A reason as the spool stores it. An agent of an older version stored words alone. */
export interface CodedReason {
  /** A MessageCode. Agents of other versions may know more. */
  readonly code?: string | null;
  readonly reason: string | null;
}

/** Returns the words of a reason: those of its code, else the stored ones, which are in English. @returns null without a reason */
export function messageReason({ code, reason }: CodedReason): string | null {
  return code == null ? reason : (english[code] ?? reason ?? code);
}

/** Returns the words of a reason with their language: English if the code has none in the page's. */
export function reasonIn(
  language: Language,
  why: CodedReason,
): { readonly lang: Language; readonly words: string } | null {
  const own = language === "tr" && why.code != null ? turkish[why.code] : undefined;
  const words = own ?? messageReason(why);
  return words === null ? null : { lang: own === undefined ? "en" : language, words };
}

/** Returns a stored reason as the agent shows it: its words in English, with its code, which is absent without one. */
export function shownReason(why: CodedReason): { readonly reason: string | null; readonly code?: string } {
  return { reason: messageReason(why), ...(why.code == null ? {} : { code: why.code }) };
}
