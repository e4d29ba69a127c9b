import type { Language } from "../../../shared/api/language.ts";
import type { FilingCode } from "../../../shared/api/filing-code.ts";
import { readingText } from "./words/reading-words.ts";

// Why a message is in its state: a code for programs. The words of a code with values are stored beside it, those of the others are made
// here, where a person reads them.

/** Why a message of practice software changes nothing. */
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

/** Why the server refuses a merge (A40) or a changed id (A47). Its words name the fields of its API, those here the fields of HL7. */
type MergeCode =
  | "REGISTRY.SAME"
  | "REGISTRY.UNKNOWN_SURVIVOR"
  | "REGISTRY.UNKNOWN_MERGED"
  | "REGISTRY.REMOVED_SURVIVOR"
  | "REGISTRY.CIRCLE"
  | "REGISTRY.MERGED_ELSEWHERE"
  | "REGISTRY.OTHER_SPECIES"
  | "REGISTRY.OTHER_CLINICS"
  | "REGISTRY.SAME_ID"
  | "REGISTRY.UNKNOWN_ID"
  | "REGISTRY.ID_TAKEN";

/** Why the server rejected a control run or a device event. */
type QualityCode = "QUALITY.INVALID" | "QUALITY.AFTER_CLOCK";

export type MessageCode =
  /** The agent ended each time it worked on the message. */
  | "MESSAGE.SET_ASIDE"
  /** A user at the dashboard took its studies from the list. */
  | "MESSAGE.DISMISSED"
  | "MESSAGE.DAMAGED"
  | "MESSAGE.NO_DEVICE"
  | "MESSAGE.INCOMPLETE"
  /** A document of which no study has the number or the name. */
  | "MESSAGE.DOCUMENT_ALONE"
  | QualityCode
  | RegistryCode
  | MergeCode
  /** The reason of its study: why no patient matches, or why the server refused it. */
  | FilingCode;

const english: Partial<Record<string, string>> = {
  "MESSAGE.SET_ASIDE": "the agent ended each time it worked on this, so it was set aside",
  "MESSAGE.DISMISSED": "a person at the desk took it from the list",
  "MESSAGE.DOCUMENT_ALONE":
    "a document that no study belongs to yet: name it as its results, or with the sample's number",
  "QUALITY.INVALID": "the server cannot read it",
  "QUALITY.AFTER_CLOCK": "its time is after the server's clock: set date and time of the device",
  "REGISTRY.NO_EFFECT": "it is about a visit, a response or for training: no animal and no order changes",
  "REGISTRY.SAME": "PID-3 and MRG-1 have the same id",
  "REGISTRY.UNKNOWN_SURVIVOR": "no animal with the id in PID-3 is stored: send it first, then send this again",
  "REGISTRY.UNKNOWN_MERGED": "the animal of MRG-1 is not one of this clinic",
  "REGISTRY.REMOVED_SURVIVOR": "the animal of PID-3 was removed: send it first, then send this again",
  "REGISTRY.CIRCLE": "the animal of PID-3 was merged into the animal of MRG-1 before",
  "REGISTRY.MERGED_ELSEWHERE": "the animal of MRG-1 was merged into another animal before",
  "REGISTRY.OTHER_SPECIES": "the animals of PID-3 and MRG-1 have different species",
  "REGISTRY.OTHER_CLINICS": "other clinics have the animal of MRG-1 too",
  "REGISTRY.SAME_ID": "the new id in PID-3 is the earlier one in MRG-1",
  "REGISTRY.UNKNOWN_ID": "no animal with the earlier id in MRG-1 is stored: send it first, then send this again",
  "REGISTRY.ID_TAKEN": "another animal has the new id in PID-3: merge the two (A40)",
} satisfies Partial<Record<MessageCode, string>>;

const turkish: Partial<Record<string, string>> = {
  "MESSAGE.SET_ASIDE": "ajan bununla her çalıştığında sona erdi, bu yüzden kenara ayrıldı",
  "MESSAGE.DISMISSED": "bir kullanıcı bunu listeden aldı",
  "MESSAGE.DOCUMENT_ALONE":
    "henüz hiçbir tetkike ait olmayan belge: adına sonuç dosyasının adını veya numune numarasını yazın",
  "QUALITY.INVALID": "sunucu bunu okuyamıyor",
  "QUALITY.AFTER_CLOCK": "zamanı sunucunun saatinden sonra: cihazın tarihini ve saatini ayarlayın",
  "REGISTRY.NO_EFFECT": "bir ziyaret, yanıt veya eğitim iletisidir: hiçbir hayvan ve istem değişmez",
  "REGISTRY.SAME": "PID-3 ile MRG-1 aynı kimliği taşıyor",
  "REGISTRY.UNKNOWN_SURVIVOR": "PID-3 içindeki kimlikle kayıtlı hayvan yok: önce hayvanı, sonra bunu yeniden gönderin",
  "REGISTRY.UNKNOWN_MERGED": "MRG-1 içindeki hayvan bu kliniğin değil",
  "REGISTRY.REMOVED_SURVIVOR": "PID-3 içindeki hayvan kaldırılmış: önce hayvanı, sonra bunu yeniden gönderin",
  "REGISTRY.CIRCLE": "PID-3 içindeki hayvan daha önce MRG-1 içindeki hayvanın kaydına katıldı",
  "REGISTRY.MERGED_ELSEWHERE": "MRG-1 içindeki hayvan daha önce başka bir hayvanın kaydına katıldı",
  "REGISTRY.OTHER_SPECIES": "PID-3 ve MRG-1 içindeki hayvanların türleri farklı",
  "REGISTRY.OTHER_CLINICS": "MRG-1 içindeki hayvan başka kliniklerde de kayıtlı",
  "REGISTRY.SAME_ID": "PID-3 içindeki yeni kimlik, MRG-1 içindeki eski kimlikle aynı",
  "REGISTRY.UNKNOWN_ID": "MRG-1 içindeki eski kimlikle kayıtlı hayvan yok: önce hayvanı, sonra bunu yeniden gönderin",
  "REGISTRY.ID_TAKEN": "PID-3 içindeki yeni kimlik başka bir hayvanın: ikisini birleştirin (A40)",
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
  const words = messageReason(why);
  if (words === null) return null;
  const own = language === "tr" && why.code != null ? turkish[why.code] : undefined;
  const read = own ?? readingText(words, language);
  return read === null ? { lang: "en", words } : { lang: language, words: read };
}

/** Returns a stored reason as the agent shows it: its words in English, with its code, which is absent without one. */
export function shownReason(why: CodedReason): { readonly reason: string | null; readonly code?: string } {
  return { reason: messageReason(why), ...(why.code == null ? {} : { code: why.code }) };
}
