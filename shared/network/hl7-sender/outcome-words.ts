import type { Language } from "../../api/language.ts";
import { type Advised, advisedText } from "../../runtime/advised.ts";
import type { Hl7Code, Hl7Outcome } from "./sender.ts";

// The words of the outcome of a delivery, for both pages, `agent status` and the doctor. The outcome itself has the code.

/** Codes of a file that is written into a folder. */
export type FileCode =
  | "FILE.WRITTEN"
  /** Many files of that name have other content. */
  | "FILE.EXISTS"
  | "FILE.NAME"
  | "FILE.DISK_FULL"
  | "FILE.NO_FOLDER"
  | "FILE.FORBIDDEN"
  | "FILE.TIMED_OUT"
  | "FILE.FAULT";

/** The outcome of a message or of a file. */
export type Outcome = Omit<Hl7Outcome, "code"> & { readonly code: Hl7Code | FileCode };

type Words = readonly [fault: string, remedy: string | null];

const english: Readonly<Record<Outcome["code"], Words>> = {
  AA: ["the receiver stored it (AA)", null],
  CA: ["the receiver accepted it (CA)", null],
  AE: ["the receiver cannot store it now (AE)", "the message is sent again"],
  CE: ["the receiver cannot take it now (CE)", "the message is sent again"],
  AR: [
    "the receiver refused it (AR)",
    "compare the names of application and facility (MSH-3 to MSH-6) and the animal's number with the receiver's settings",
  ],
  CR: [
    "the receiver refused it (CR)",
    "compare the type and version of the message, and MSH-3 to MSH-6, with the receiver's settings",
  ],
  "ACK.TIMED_OUT": ["no acknowledgement in time", "look at the log of the receiver"],
  "ACK.CLOSED": [
    "the receiver closed the connection before it acknowledged",
    "look at the log of the receiver; if it expects TLS, set tls of the destination",
  ],
  "ACK.FOREIGN": [
    "the receiver acknowledged another message",
    "its MSA-2 must be the MSH-10 of the message: ask its maker",
  ],
  "ACK.UNREADABLE": ["the answer is not an acknowledgement in MLLP", "check that the port is the one for HL7 (MLLP)"],
  "ACK.UNKNOWN_CODE": ["the acknowledgement has an unknown code", "ask the maker of the receiver about its MSA-1"],
  "ACK.TOO_LONG": ["the answer is longer than 64 KB", "check that the port is the one for HL7 (MLLP)"],
  "MESSAGE.INVALID": ["the message has no control id (MSH-10)", null],
  "TLS.NEEDED": ["the receiver speaks TLS", "set tls of the destination"],
  "DIAL.NO_ROUTE": ["no way to the receiver", "check its address, and whether its machine is in the network and on"],
  "DIAL.REFUSED": ["nothing listens there", "start the receiver, and compare the port with its settings"],
  "DIAL.TIMED_OUT": ["no answer from there", "check the address, and the firewall of the receiver's machine"],
  "DIAL.UNKNOWN_HOST": ["no machine has that name", "take the address of the receiver in its place"],
  "DIAL.FAULT": ["the connection cannot be opened", null],
  "TLS.NOT_SPOKEN": [
    "the receiver does not speak TLS",
    "remove tls of the destination, or take the receiver's TLS port",
  ],
  "TLS.UNTRUSTED": [
    "the certificate of the receiver is not trusted",
    "name its authority in tls.ca; if its name or its time is wrong, name its public key in tls.pin",
  ],
  "TLS.OTHER_PIN": [
    "the receiver has another public key than tls.pin",
    "compare it at the receiver: another machine may answer in its place",
  ],
  "TLS.FAULT": ["TLS with the receiver failed", null],
  "FILE.WRITTEN": ["the file is in the folder", null],
  "FILE.EXISTS": ["too many files in the folder have that name", "take the old files out of the folder"],
  "FILE.NAME": ["the name of the file is not valid", null],
  "FILE.DISK_FULL": ["the disk of the folder is full", "make room there"],
  "FILE.NO_FOLDER": ["the folder is missing", "create it, or connect the share"],
  "FILE.FORBIDDEN": ["no permission to write into the folder", "let the account of the agent write there"],
  "FILE.TIMED_OUT": ["the folder does not answer", "look at the machine that shares it, and at the network"],
  "FILE.FAULT": ["the file cannot be written", null],
};

const turkish: Readonly<Record<Outcome["code"], Words>> = {
  AA: ["alıcı kaydetti (AA)", null],
  CA: ["alıcı kabul etti (CA)", null],
  AE: ["alıcı şu anda kaydedemiyor (AE)", "ileti yeniden gönderilir"],
  CE: ["alıcı şu anda alamıyor (CE)", "ileti yeniden gönderilir"],
  AR: [
    "alıcı reddetti (AR)",
    "uygulama ve kurum adlarını (MSH-3 ile MSH-6) ve hayvanın numarasını alıcının ayarlarıyla karşılaştırın",
  ],
  CR: [
    "alıcı reddetti (CR)",
    "iletinin türünü ve sürümünü, MSH-3 ile MSH-6 alanlarını alıcının ayarlarıyla karşılaştırın",
  ],
  "ACK.TIMED_OUT": ["süresinde onay gelmedi", "alıcının günlüğüne bakın"],
  "ACK.CLOSED": [
    "alıcı onaylamadan bağlantıyı kapattı",
    "alıcının günlüğüne bakın; TLS bekliyorsa hedefin tls ayarını yapın",
  ],
  "ACK.FOREIGN": ["alıcı başka bir iletiyi onayladı", "MSA-2, iletinin MSH-10 değeri olmalı: üreticisine sorun"],
  "ACK.UNREADABLE": ["yanıt MLLP ile gelen bir onay değil", "portun HL7 (MLLP) portu olduğunu denetleyin"],
  "ACK.UNKNOWN_CODE": ["onayın kodu bilinmiyor", "alıcının üreticisine MSA-1 değerini sorun"],
  "ACK.TOO_LONG": ["yanıt 64 KB sınırını aşıyor", "portun HL7 (MLLP) portu olduğunu denetleyin"],
  "MESSAGE.INVALID": ["iletinin denetim numarası (MSH-10) yok", null],
  "TLS.NEEDED": ["alıcı TLS kullanıyor", "hedefin tls ayarını yapın"],
  "DIAL.NO_ROUTE": ["alıcıya yol yok", "adresini, makinesinin ağda ve açık olduğunu denetleyin"],
  "DIAL.REFUSED": ["orada dinleyen yok", "alıcıyı başlatın ve portu onun ayarlarıyla karşılaştırın"],
  "DIAL.TIMED_OUT": ["oradan yanıt yok", "adresi ve alıcı makinesinin güvenlik duvarını denetleyin"],
  "DIAL.UNKNOWN_HOST": ["bu adda bir makine yok", "yerine alıcının adresini alın"],
  "DIAL.FAULT": ["bağlantı açılamıyor", null],
  "TLS.NOT_SPOKEN": ["alıcı TLS kullanmıyor", "hedefin tls ayarını kaldırın ya da alıcının TLS portunu alın"],
  "TLS.UNTRUSTED": [
    "alıcının sertifikasına güvenilmiyor",
    "sertifikasını imzalayanı tls.ca altında belirtin; adı ya da süresi yanlışsa açık anahtarını tls.pin altında belirtin",
  ],
  "TLS.OTHER_PIN": [
    "alıcının açık anahtarı tls.pin değerinden farklı",
    "alıcıda karşılaştırın: yerine başka bir makine yanıt veriyor olabilir",
  ],
  "TLS.FAULT": ["alıcıyla TLS kurulamadı", null],
  "FILE.WRITTEN": ["dosya klasörde", null],
  "FILE.EXISTS": ["klasörde bu adda çok fazla dosya var", "eski dosyaları klasörden çıkarın"],
  "FILE.NAME": ["dosyanın adı geçersiz", null],
  "FILE.DISK_FULL": ["klasörün diski dolu", "orada yer açın"],
  "FILE.NO_FOLDER": ["klasör yok", "oluşturun ya da paylaşıma bağlanın"],
  "FILE.FORBIDDEN": ["klasöre yazma izni yok", "aracının hesabına orada yazma izni verin"],
  "FILE.TIMED_OUT": ["klasör yanıt vermiyor", "onu paylaşan makineye ve ağa bakın"],
  "FILE.FAULT": ["dosya yazılamıyor", null],
};

/** The words of each outcome in both languages, for sentences that contain them. */
export const OUTCOME_WORDS: readonly (readonly [english: Words, turkish: Words])[] = Object.entries(english).map(
  ([code, words]) => [words, turkish[code as Outcome["code"]]],
);

const TABLES: Readonly<Record<Language, Readonly<Partial<Record<string, Words>>>>> = { en: english, tr: turkish };

/**
 * Returns what an outcome means and what to do about it. `text` has the words of the receiver, or the code of the system.
 * @returns null for a code of another version
 */
export function outcomeAdvice(code: string, text: string | null, language: Language = "en"): Advised | null {
  const words = TABLES[language][code];
  if (words === undefined) return null;
  const [fault, remedy] = words;
  return { fault: text === null ? fault : `${fault}, "${text}"`, remedy };
}

/** Returns an outcome as one sentence. */
export function outcomeText(code: string, text: string | null, language: Language = "en"): string {
  const found = outcomeAdvice(code, text, language);
  return found === null ? [code, text ?? ""].join(" ").trim() : advisedText(found);
}
