import type { Language } from "../../../shared/api/language.ts";
import { type Reason, type ReasonOf, reasonOf } from "../../../shared/api/reason.ts";
import { animalWord } from "../../../shared/clinical/passport/animal-words.ts";
import { isWebhookCode, webhookText } from "./webhook-reasons.ts";

// Why a command of a user changes nothing: a code for programs, and its words for the response (English), the page (its language)
// and the problems of an import.

type Words = (...values: readonly string[]) => string;

/** Fields of an event, as its form names them. */
const eventFields: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  en: {
    title: "the title",
    type: "the type",
    status: "the state",
    start_at: "the start",
    end_at: "the end",
    patient_fp: "the patient",
    assigned_user_fp: "who is responsible",
  },
  tr: {
    title: "başlık",
    type: "tür",
    status: "durum",
    start_at: "başlangıç",
    end_at: "bitiş",
    patient_fp: "hasta",
    assigned_user_fp: "sorumlu",
  },
};

type TurkishNames = Readonly<Record<string, string>>;

/** States of events and records, and fields of records, as their pages name them. The English sentences have the words of the API. */
const eventStates: TurkishNames = {
  SCHEDULED: "Planlandı",
  CHECKED_IN: "Geldi",
  IN_PROGRESS: "Muayenede",
  PENDING_CHECKOUT: "Çıkış bekliyor",
  CLOSED: "Kapandı",
  CANCELLED: "İptal edildi",
};
const recordNames: TurkishNames = {
  ...{ DRAFT: "Taslak", IN_PROGRESS: "Sürüyor", SIGNED: "İmzalı", LOCKED: "Kilitli" },
  ...{ subjective: "Subjektif", objective: "Objektif", assessment: "Değerlendirme", plan: "Plan" },
};
const named = (names: TurkishNames, word = ""): string => names[word] ?? word;

const english = {
  /** Who changed it and where it is now; no values if the user may not see who. */
  "STUDY.CHANGED": (who, place, name) => {
    if (place === undefined) return "This study was changed meanwhile. Look again";
    const now = place === "filed" ? `is filed to ${name} now` : `${place} now. Look again`;
    return `${who === "" ? "The device" : who} changed this study meanwhile: it ${now}`;
  },
  "STUDY.REJECTED": () => "This study is rejected: undo that first",
  "STUDY.FILED": () => "This study is filed to a patient: expected an unmatched one",
  "STUDY.FILED_BY_AGENT": () => "The agent filed this study meanwhile. Look again",
  "STUDY.FILED_THERE": (name) => `This study is filed to ${name} already`,
  "STUDY.UNMATCHED": () => "This study is filed to no patient: expected a filed one",
  "STUDY.NOT_PLACED": () => "No user assigned or rejected this study",
  "STUDY.NOT_MOVED": () => "The last change of this study did not move it",
  "STUDY.NOT_TYPED": () => "Nobody typed this study: its device corrects it",
  "STUDY.FLAGGED": () => "This study is flagged for its patient as it is",
  "STUDY.OTHER_CLINIC": () => "This is a study of another clinic",
  "QUALITY.NOTHING": () => "No control failed around this study: there is nothing to release",
  "QUALITY.CHANGED": () => "Another control came meanwhile. Load the page again, and look at its state",
  "STUDY.TOO_LONG": () => "This study is too long for a PDF file. Take the CSV file",
  "SHARE.UNMATCHED": () => "This study has no patient yet, so it is not shared. Place it first",
  "SHARE.REJECTED": () => "This study is rejected, so it is not shared",
  "SHARE.CONFLICT": () =>
    "The device sent a contradicting result for this study, so it is not shared. Look at both, and run the sample again if in doubt",
  "SHARE.PENDING": (tests) => `Tests of its order still run, so it is not shared yet: ${tests}`,
  "SHARE.CONTROL": (analytes) =>
    `The device's control failed before it measured ${analytes}, so the study is not shared. Measure again, or release it with a reason`,
  "SHARE.TOO_MANY": (most) => `The study has ${most} links that open, the most. Revoke one first`,
  "SHARE.ADDRESS": () => "This is not one e-mail address: enter one such as owner@example.com",
  "SHARE.JUST_SENT": (seconds) => `The report went to this address just now: wait ${secondsOf(seconds)}`,
  "SHARE.TOO_MANY_MAILS": (most) => `The clinic sent ${most} reports in the last hour, the most: wait, or make a link`,
  "MAIL.OTHER_CLINICS": () =>
    "The server has other clinics too: a user who is an admin of each of them may change its mail server",
  "MAIL.FIXED": (options) => `The mail server is set by options of the command line: ${options}`,
  "MAIL.PASSWORD_AGAIN": () => "The server, its encryption or the name changed: enter the password again",
  "PASSWORD.LENGTH": (least, most) => `The password is too short or too long, expected ${least} to ${most} characters`,
  "QUIET.SAME": () => "Start and end of the quiet hours are the same: choose two times",
  "ZONE.UNKNOWN": (zone) => `This server does not know the time zone ${zone}: choose one such as Europe/Istanbul`,
  "VIEWER.ADDRESS": (uid) =>
    `This is not the address of a viewer: expected one of http, https or weasis with ${uid}, not in the server's name`,
  "TIME.FUTURE": () => "This time is in the future: enter a time in the past",
  "REMARK.CHANGED": () => "Somebody changed the remark meanwhile. Load the page again",
  "FORM.CHANGED": () => "Somebody changed this meanwhile. Load the page again",
  "LOGO.INVALID": (kilobytes) =>
    `This file is not a complete PNG or JPEG of at most ${kilobytes} kB and 2000 pixels a side`,
  "PATIENT.CHANGED": () => "Somebody changed this animal meanwhile. Load the page again",
  "PATIENT.ALIKE": () => "Somebody added an animal that is alike meanwhile. Look at it, then save again",
  "PATIENT.SHARED": () =>
    "Other clinics see this animal too, so that nobody removes it. Close the connection of this clinic instead",
  "MERGE.SAME": () => "This is one animal: choose another one",
  "MERGE.OTHER_SPECIES": () => "The two are of different species. If one is wrong, change it first",
  "MERGE.OTHER_CLINICS": () => "Other clinics see the animal that would go: let that one stay",
  "MERGE.LEFT": () => "One of the two is not a patient of this clinic any more. Load the page again",
  "UNDO.OVER": () => "This change can be undone no more: 24 hours are over",
  "UNDO.DONE": () => "Somebody undid this change already. Load the page again",
  "UNDO.CHANGED": () =>
    "What this change wrote was changed again since, so nothing was undone. Undo the later change first",
  "UNDO.IN_USE": () =>
    "The animal or its owner has results, appointments, orders or used stock by now, or another clinic sees it, so nothing was undone. Remove the animal instead",
  "OWNER.IMPORTING": () => "A file is being imported, which may have this owner. Try again after its end",
  "OWNER.CHANGED": () => "Somebody changed this owner meanwhile. Load the page again",
  "ANIMAL.FAULTS": () => "A value is missing or not possible",
  "PATIENT.LEFT": () => "Its patient is not a patient of this clinic any more",
  "MATCH.OTHER_SPECIES": (stated = "", known = "") => {
    const [said, own] = [animalWord(stated, "en"), animalWord(known, "en")];
    return `The device says ${said}, but the patient is a ${own}: type the patient's species, ${own}, to file it all the same`;
  },
  "MATCH.UNCHECKED_FACTS": (name) =>
    `The device contradicts the sex or the date of birth of ${name}: tick that you have checked it, to file it all the same`,
  "CODE.MAPPED": (by, analyte) => `${by} mapped this code to ${analyte} meanwhile`,
  "STOCK.QUANTITY": (quantity, most) =>
    `Quantity is ${quantity}, expected a whole number${most === undefined ? ", at least 1" : ` from 1 to ${most}`}`,
  "STOCK.ON_HAND": (quantity, most) => `Quantity is ${quantity}, at most ${most} on hand`,
  "STOCK.IN_BATCH": (quantity, most) => `Quantity is ${quantity}, at most ${most} in this batch`,
  "STOCK.EXPIRED": (quantity, most) =>
    `Quantity is ${quantity}, at most ${most} on hand that are not expired: choose an expired batch by itself`,
  "STOCK.NO_BATCH": (batch) => `Batch is ${batch}, expected a batch of this item`,
  "STOCK.COUNT": (quantity) => `Quantity is ${quantity}, expected a whole number, at least 0`,
  "STOCK.UNDO_KIND": () => "This movement is not undone: count the stock instead",
  "STOCK.UNDO_TWICE": () => "Somebody undid this movement already. Load the page again",
  "STOCK.UNDO_COUNTED": () =>
    "The stock was counted or imported after this movement, so nothing was undone. If the quantity is wrong, count again",
  "STOCK.UNDO_USED": (quantity, left) =>
    `The undo takes ${quantity} back, and ${left} are left: undo first what was taken since`,
  "STOCK.NAME_TAKEN": () => "The clinic has an item of this name",
  "STOCK.NO_ITEM": (fp) => `${fp} is not an item of this clinic`,
  "EVENT.STATUS": (to, from, next) => `Status is ${to}, expected ${next} or CANCELLED after ${from}`,
  /** The values are the fields of an event that changed. */
  "EVENT.CHANGED": (...fields) =>
    `Somebody changed ${fields.map((field) => eventFields.en[field] ?? field).join(", ")} meanwhile, so nothing was overwritten`,
  "EVENT.OF_SOFTWARE": (source) => `${source} keeps this appointment: change it there`,
  "EVENT.CANCELLED_BY_SOFTWARE": (source) => `${source} cancelled this appointment: make a new one there`,
  "EVENT.NO_STEP_BACK": () => "This event is in its first state: there is nothing to undo",
  "EVENT.FINAL": (to, from) => `Status is ${to}, expected no other status, ${from} is final`,
  "EVENT.NOT_OWN": (fp) => `${fp} is not an event of this clinic`,
  "SOAP.STATUS": (to, from, next) => `Status is ${to}, expected ${next} after ${from}`,
  "SOAP.FINAL": (to, from) => `Status is ${to}, expected no other status, ${from} is final`,
  "SOAP.SIGNED": (status, ...fields) =>
    `The stored record is ${status} and ${fields.join(", ")} would change, expected an amendment as a new record`,
  "SOAP.OPEN": (status) => `This record is ${status}, expected a signed one: change its text instead`,
  "SOAP.AMENDS_ITSELF": () => "amends_fp is the record itself, expected another record",
  "SOAP.AMENDS_OTHER": (fp) => `amends_fp is ${fp}, a record of another patient, expected one of the same`,
  "SOAP.AMENDS_OPEN": (fp, status) => `amends_fp is ${fp}, which is ${status}, expected a SIGNED or LOCKED record`,
  "SOAP.NOT_OWN": (fp) => `${fp} is not a record of this clinic`,
  "SOAP.OF_CLINIC": (clinic) => `This record belongs to ${clinic}, and only that clinic changes it`,
  "SOAP.CHANGED": () => "Someone else changed this record after you opened it, so nothing was overwritten",
  "CONNECTION.TOO_MANY": (most) => `${most} requests of this clinic wait already: withdraw one first`,
  "CONNECTION.OPEN": (clinic) => `${clinic} sees this patient already: load the page again`,
  "CONNECTION.NONE": () => "Nothing waits for this clinic",
  "PAIRING.TOO_MANY": () => "Many clinics of this server add a PC just now: wait a few minutes, then try again",
  "PC.LOCAL": () => "This PC takes no devices from here: edit agent.yaml on the PC",
  "PROFILE.NAMELESS": () =>
    "The file is no profile of a clinic: expected the lines profile: own/NAME and revision: NUMBER",
  "PROFILE.STORED": (profile) => `${profile} is stored with another content: give the changed one the next revision`,
  "PROFILE.TOO_MANY": (most) => `The clinic has ${most} revisions of profiles, the most`,
  "PC.CHANGED": () => "The devices changed meanwhile: close this window and open it again",
  "UPDATE.OTHER_VERSION": (version) => `Version ${version} is not the newest one here: load the page again`,
  "UPDATE.NOTHING": () => "Every PC that can take this version has it: there is nothing to update",
  "UPDATE.RUNS_BY": (by) => `${by} started an update already: wait for its end, or stop it`,
  "UPDATE.NONE": () => "No update of the PCs is under way: load the page again",
  "UPDATE.ENDED": () => "This update has ended already: load the page again",
  "UPDATE.NOT_ITS_TURN": () => "It is not the turn of this PC any more: load the page again",
  "UPDATE.RUNS": () => "This update is under way: stop it first",
  "IMPORT.QUESTION": () => "A question about the file is open",
  "IMPORT.NO_PREVIEW": () => "The preview is not complete: wait for its end",
  "IMPORT.RUNS": () => "The import is under way: wait for its end, then undo it",
  "IMPORT.OTHER_RUNS": () => "Another import of this clinic is under way: wait for its end",
  "IMPORT.NOTHING": () => "This import changed nothing",
  "IMPORT.OVER": () => "This import has ended: load the page again",
  "ORDER.HAS_RESULTS": () => "This order has results by now, which stay",
  "ORDER.OTHER_PATIENT": () => "This order is for another animal than the results",
  "ORDER.OTHER_ORDER": () => "These results have an order already",
  "ORDER.NOT_ATTACHED": () => "The last change of these results was another one",
  "CONTROL.TOO_LONG": () => "This month has too many controls for a PDF file. Take the CSV file",
  "CONTROL.NO_NUMBER": (analyte, text) => `${analyte} is ${text}, expected a number`,
  "CONTROL.PROPOSAL_CHANGED": () =>
    "The first runs of this control changed meanwhile, and so did their mean and SD. Look at the new proposal, then accept it",
  "NETWORK.OTHER_CLINICS": () =>
    "This server has other clinics too: a user who is admin in each of them may change its network",
  "CLINIC.IS_SUSPENDED": () => "The clinic is suspended: serve it again first",
  "CLINIC.IS_SERVED": () => "The clinic is served: suspend it first",
  "CLINIC.IS_ERASED": () => "The erasure of the clinic has begun: it cannot be served again",
  "CLINIC.OTHER_NAME": () => "This is not the name of the clinic",
  "ANNOUNCEMENT.OVER": () => "The announcement ends before it begins, or has ended already",
  "CLINIC.IS_EXPORTED": () => "An export is under way: wait for its end",
  "USER.NAME_TAKEN": () => "Another user has this name. Choose another one",
  "USER.IN_CLINIC": () => "This user belongs to the clinic already",
  "USER.LAST_ADMIN": () => "A clinic keeps at least one admin. Make another user an admin first",
  "USER.ONESELF": () => "This is your own account. Change it on your account page",
  "USER.OF_OTHERS": () =>
    "This user also belongs to a clinic that you do not administer. You can only remove the user from yours",
  "USER.OF_PROVIDER": () =>
    "This user signs in with the organisation's account and has no password here. Reset it where the organisation keeps its accounts",
  "OIDC.UNREACHABLE": () =>
    "Your organisation's sign-in does not answer. Try again in a few minutes, or sign in with a password",
  "OIDC.PROVIDER": () =>
    "Your organisation's sign-in and this server do not fit together. Tell whoever runs the server: its log has the reason",
  "OIDC.DENIED": () => "The sign-in was cancelled or refused by your organisation",
  "OIDC.ENDED": () => "This sign-in took too long, or it was used already. Sign in again",
  "OIDC.NOT_VERIFIED": () => "The answer of your organisation's sign-in could not be verified. Sign in again",
  "OIDC.NO_ROLE": () =>
    "You signed in, but none of your groups has a role in a clinic here. Ask whoever manages your organisation's accounts",
  "OIDC.NO_OPERATOR": () =>
    "You signed in, but none of your groups makes you an operator of this server. Users of a clinic sign in at /dashboard",
  "OIDC.DISABLED": () =>
    "This user is disabled here. An admin of your clinic, or whoever runs the server, can enable it",
  "FACTOR.WRONG_CODE": () => "This code is wrong. Check the clock of your phone",
  "FACTOR.ON": () => "Your second factor is on already",
  "FACTOR.OFF": () => "Your second factor is off",
  "KEY.TOO_MANY": (most) => `The clinic has ${most} active keys, at most ${most}. Revoke one first`,
  "KEY.ENDED": () => "This key is revoked or expired. Create a new one",
  "RANGES.CHANGED": () => "Someone else changed the intervals meanwhile. Look at the changes again",
  "INTERVAL.TOO_FEW": (missing) => `Too few animals for an interval: ${missing} more are needed`,
  "INTERVAL.TOO_EQUAL": () => "The values are too equal for an interval",
  "INTERVAL.CHANGED": () => "A result changed meanwhile. Search the animals again",
  "INTERVAL.DECIDED": () => "Somebody decided about this proposal meanwhile. Load the page again",
  "CHANNEL.TAKEN": () => "This address is in the list already",
  "CHANNEL.TOO_MANY": (most) => `A clinic has at most ${most} addresses: remove one first`,
  "CHANNEL.TESTED": (seconds) => `The last test was just now: wait ${secondsOf(seconds)}`,
  /** The code and the values of a WebhookReason. */
  "WEBHOOK.URL": (...why) => urlWords("en", ...why),
  "WEBHOOK.TOO_MANY": (most) => `The clinic has ${most} webhooks, the most. Delete one first`,
  "DESTINATION.FORM": () => "This is not an address: enter a name or number of a machine with a port from 1024 on",
  "DESTINATION.PRIVATE": () =>
    "This address is in the local network, which this server may not reach: name it at the clinic PC, or start the server with --allow-private-webhooks",
  "DESTINATION.FORBIDDEN": () => "No results go to this address: enter another one",
  "DESTINATION.NEEDS_TLS": () => "This address is in the internet: choose the encrypted connection",
  "DESTINATION.TOO_MANY": (most) => `The clinic has ${most} destinations, the most. Remove one first`,
  "DESTINATION.UNDER_WAY": () => "This result is being sent, or does not wait any more: look again in a minute",
  "DESTINATION.OF_AGENT": () => "A clinic PC reaches this destination: change it there, in agent.yaml",
  "WRITE.DONE": () => "This is done already: load the page again",
} as const satisfies Record<string, Words>;

export type RefusalCode = keyof typeof english;
export type Refusal = ReasonOf<RefusalCode>;

const placesInTurkish: Readonly<Record<string, string>> = { "is rejected": "reddedildi", waits: "bekliyor" };

const turkish: Record<RefusalCode, Words> = {
  "STUDY.CHANGED": (who, place, name) => {
    if (place === undefined) return "Bu tetkik bu arada değişti. Yeniden bakın";
    const now =
      place === "filed" ? `şimdi ${name} hastasında` : `şimdi ${placesInTurkish[place] ?? place}. Yeniden bakın`;
    return `${who === "" ? "Cihaz" : who} bu tetkiki bu arada değiştirdi: ${now}`;
  },
  "PASSWORD.LENGTH": (least, most) => `Parola çok kısa veya çok uzun: ${least} ile ${most} karakter arasında olmalı`,
  "QUIET.SAME": () => "Sessiz saatlerin başı ve sonu aynı: iki ayrı saat seçin",
  "ZONE.UNKNOWN": (zone) => `Bu sunucu ${zone} saat dilimini tanımıyor: Europe/Istanbul gibi birini seçin`,
  "VIEWER.ADDRESS": (uid) =>
    `Bu bir görüntüleyici adresi değil: ${uid} içeren, sunucu adında ${uid} olmayan bir http, https veya weasis adresi bekleniyordu`,
  "TIME.FUTURE": () => "Bu zaman gelecekte: geçmiş bir zaman girin",
  "REMARK.CHANGED": () => "Notu bu arada başkası değiştirdi. Sayfayı yeniden yükleyin",
  "FORM.CHANGED": () => "Bunu bu arada başkası değiştirdi. Sayfayı yeniden yükleyin",
  "LOGO.INVALID": (kilobytes) =>
    `Bu dosya, en çok ${kilobytes} kB ve kenarı en çok 2000 piksel olan sağlam bir PNG veya JPEG değil`,
  "STUDY.REJECTED": () => "Bu tetkik reddedilmiş: önce bunu geri alın",
  "STUDY.FILED": () => "Bu tetkik bir hastaya ait: hastasız bir tetkik bekleniyordu",
  "STUDY.FILED_BY_AGENT": () => "Cihaz bilgisayarı bu tetkiki bu arada yerleştirdi. Yeniden bakın",
  "STUDY.FILED_THERE": (name) => `Bu tetkik zaten ${name} hastasında`,
  "STUDY.UNMATCHED": () => "Bu tetkikin hastası yok: yerleştirilmiş bir tetkik bekleniyordu",
  "STUDY.NOT_PLACED": () => "Bu tetkiki bir kullanıcı yerleştirmedi veya reddetmedi",
  "STUDY.NOT_MOVED": () => "Bu tetkikin son değişikliği bir taşıma değil",
  "STUDY.NOT_TYPED": () => "Bu tetkiki kimse elle girmedi: onu cihazı düzeltir",
  "STUDY.FLAGGED": () => "Bu tetkik hastasına göre zaten işaretli",
  "STUDY.OTHER_CLINIC": () => "Bu tetkik başka bir kliniğin",
  "QUALITY.NOTHING": () => "Bu tetkikin çevresinde başarısız kontrol yok: serbest bırakılacak bir şey yok",
  "QUALITY.CHANGED": () => "Bu arada başka bir kontrol geldi. Sayfayı yeniden yükleyip durumuna bakın",
  "STUDY.TOO_LONG": () => "Bu tetkik PDF dosyası için çok uzun. CSV dosyasını alın",
  "SHARE.UNMATCHED": () => "Bu tetkikin henüz hastası yok, bu yüzden paylaşılmaz. Önce yerleştirin",
  "SHARE.REJECTED": () => "Bu tetkik reddedildi, bu yüzden paylaşılmaz",
  "SHARE.CONFLICT": () =>
    "Cihaz bu tetkik için çelişen bir sonuç gönderdi, bu yüzden paylaşılmaz. İkisine de bakın, kuşkuda kalırsanız numuneyi yeniden çalıştırın",
  "SHARE.PENDING": (tests) => `İstemin bazı testleri sürüyor, bu yüzden henüz paylaşılmaz: ${tests}`,
  "SHARE.CONTROL": (analytes) =>
    `${analytes} ölçülmeden önce cihazın kontrolü başarısız oldu, bu yüzden tetkik paylaşılmaz. Yeniden ölçün ya da nedenini yazarak serbest bırakın`,
  "SHARE.TOO_MANY": (most) => `Bu tetkikin açılan ${most} bağlantısı var, en çok bu kadar olur. Önce birini iptal edin`,
  "SHARE.ADDRESS": () => "Bu tek bir e-posta adresi değil: owner@example.com gibi bir adres girin",
  "SHARE.JUST_SENT": (seconds) => `Rapor bu adrese az önce gönderildi: ${seconds} saniye bekleyin`,
  "SHARE.TOO_MANY_MAILS": (most) =>
    `Klinik son bir saatte ${most} rapor gönderdi, en çok bu kadar olur: bekleyin ya da bağlantı oluşturun`,
  "MAIL.OTHER_CLINICS": () =>
    "Bu sunucuda başka klinikler de var: posta sunucusunu, hepsinde yönetici olan bir kullanıcı değiştirebilir",
  "MAIL.FIXED": (options) => `Posta sunucusunu komut satırının seçenekleri belirliyor: ${options}`,
  "MAIL.PASSWORD_AGAIN": () => "Sunucu, şifreleme ya da ad değişti: parolayı yeniden girin",
  "PATIENT.CHANGED": () => "Bu arada başka biri bu hastayı değiştirdi. Sayfayı yeniden yükleyin",
  "PATIENT.ALIKE": () => "Bu arada benzer bir hasta eklendi. Ona bakın, sonra yeniden kaydedin",
  "PATIENT.SHARED": () =>
    "Bu hastayı başka klinikler de görüyor, bu yüzden silinmez. Kliniğinizin bağlantısını kapatın",
  "MERGE.SAME": () => "Bu aynı hasta: başka birini seçin",
  "MERGE.OTHER_SPECIES": () => "İkisinin türü farklı. Biri yanlışsa önce onu değiştirin",
  "MERGE.OTHER_CLINICS": () => "Kaldırılacak hastayı başka klinikler de görüyor: o kalsın",
  "MERGE.LEFT": () => "İkisinden biri artık bu kliniğin hastası değil. Sayfayı yeniden yükleyin",
  "UNDO.OVER": () => "Bu değişiklik artık geri alınamaz: 24 saat geçti",
  "UNDO.DONE": () => "Bu değişikliği biri zaten geri aldı. Sayfayı yeniden yükleyin",
  "UNDO.CHANGED": () =>
    "Bu değişikliğin yazdıkları sonra yeniden değişti, hiçbir şey geri alınmadı. Önce sonraki değişikliği geri alın",
  "UNDO.IN_USE": () =>
    "Hastanın veya sahibinin artık sonucu, randevusu, istemi ya da stoktan kullanılanı var ya da onu başka bir klinik de görüyor, hiçbir şey geri alınmadı. Bunun yerine hastayı silin",
  "OWNER.IMPORTING": () => "İçinde bu sahip bulunabilecek bir dosya içe aktarılıyor. Bittikten sonra yeniden deneyin",
  "OWNER.CHANGED": () => "Bu arada başka biri bu sahibi değiştirdi. Sayfayı yeniden yükleyin",
  "ANIMAL.FAULTS": () => "Bir değer eksik veya olanaksız",
  "PATIENT.LEFT": () => "Hastası artık bu kliniğin hastası değil",
  "MATCH.OTHER_SPECIES": (stated = "", known = "") => {
    const [said, own] = [animalWord(stated, "tr"), animalWord(known, "tr")];
    return `Cihaz ${said} diyor, ama hasta ${own}: yine de yerleştirmek için hastanın türünü yazın: ${own}`;
  },
  "MATCH.UNCHECKED_FACTS": (name) =>
    `Cihaz ${name} adlı hastanın cinsiyeti veya doğum tarihiyle çelişiyor: yine de yerleştirmek için denetlediğinizi işaretleyin`,
  "CODE.MAPPED": (by, analyte) => `${by} bu kodu bu arada ${analyte} ile eşledi`,
  "STOCK.QUANTITY": (quantity, most) =>
    `Miktar ${quantity}, ${most === undefined ? "en az 1 olan" : `1 ile ${most} arasında`} bir tam sayı bekleniyordu`,
  "STOCK.ON_HAND": (quantity, most) => `Miktar ${quantity}, elde en çok ${most} var`,
  "STOCK.IN_BATCH": (quantity, most) => `Miktar ${quantity}, bu partide en çok ${most} var`,
  "STOCK.EXPIRED": (quantity, most) =>
    `Miktar ${quantity}, elde süresi geçmemiş en çok ${most} var: süresi geçmiş partiyi ayrıca seçin`,
  "STOCK.NO_BATCH": (batch) => `Parti ${batch}, bu ürünün bir partisi bekleniyordu`,
  "STOCK.COUNT": (quantity) => `Miktar ${quantity}, en az 0 olan bir tam sayı bekleniyordu`,
  "STOCK.UNDO_KIND": () => "Bu hareket geri alınmaz: bunun yerine stoğu sayın",
  "STOCK.UNDO_TWICE": () => "Bu hareketi biri zaten geri aldı. Sayfayı yeniden yükleyin",
  "STOCK.UNDO_COUNTED": () =>
    "Bu hareketten sonra stok sayıldı veya içe aktarıldı, hiçbir şey geri alınmadı. Miktar yanlışsa yeniden sayın",
  "STOCK.UNDO_USED": (quantity, left) =>
    `Geri alma ${quantity} düşer, kalan ise ${left}: önce sonradan düşülenleri geri alın`,
  "STOCK.NAME_TAKEN": () => "Klinikte bu adla bir ürün var",
  "STOCK.NO_ITEM": (fp) => `${fp} bu kliniğin ürünü değil`,
  "EVENT.STATUS": (to, from, next) =>
    `Yeni durum “${named(eventStates, to)}”, “${named(eventStates, from)}” ardından “${named(eventStates, next)}” ya da “${eventStates["CANCELLED"]}” bekleniyordu`,
  "EVENT.CHANGED": (...fields) =>
    `Bu arada başka biri şunu değiştirdi: ${fields.map((field) => eventFields.tr[field] ?? field).join(", ")}. Hiçbir şeyin üzerine yazılmadı`,
  "EVENT.OF_SOFTWARE": (source) => `Bu randevuyu ${source} tutuyor: orada değiştirin`,
  "EVENT.CANCELLED_BY_SOFTWARE": (source) => `Bu randevuyu ${source} iptal etti: orada yenisini oluşturun`,
  "EVENT.NO_STEP_BACK": () => "Bu etkinlik ilk durumunda: geri alınacak bir şey yok",
  "EVENT.FINAL": (to, from) => `Yeni durum “${named(eventStates, to)}”, ama “${named(eventStates, from)}” son durumdur`,
  "EVENT.NOT_OWN": (fp) => `${fp} bu kliniğin randevusu değil`,
  "SOAP.STATUS": (to, from, next) =>
    `Yeni durum “${named(recordNames, to)}”, “${named(recordNames, from)}” ardından “${named(recordNames, next)}” bekleniyordu`,
  "SOAP.FINAL": (to, from) => `Yeni durum “${named(recordNames, to)}”, ama “${named(recordNames, from)}” son durumdur`,
  "SOAP.SIGNED": (status, ...fields) =>
    `Saklanan kaydın durumu “${named(recordNames, status)}” ve şunlar değişecekti: ${fields.map((field) => named(recordNames, field)).join(", ")}. Yeni bir kayıt olarak ek bekleniyordu`,
  "SOAP.OPEN": (status) =>
    `Bu kaydın durumu “${named(recordNames, status)}”, imzalı bir kayıt bekleniyordu: bunun yerine metnini değiştirin`,
  "SOAP.AMENDS_ITSELF": () => "Ek, kaydın kendisini gösteriyor: başka bir kayıt bekleniyordu",
  "SOAP.AMENDS_OTHER": (fp) => `${fp} başka bir hastanın kaydı: aynı hastanın kaydı bekleniyordu`,
  "SOAP.AMENDS_OPEN": (fp, status) =>
    `${fp} kaydının durumu “${named(recordNames, status)}”: imzalı ya da kilitli bir kayıt bekleniyordu`,
  "SOAP.NOT_OWN": (fp) => `${fp} bu kliniğin kaydı değil`,
  "SOAP.OF_CLINIC": (clinic) => `Bu kayıt ${clinic} kliniğinin, onu yalnız o klinik değiştirir`,
  "SOAP.CHANGED": () => "Siz açtıktan sonra bu kaydı başka biri değiştirdi, bu yüzden üzerine yazılmadı",
  "CONNECTION.TOO_MANY": (most) => `Bu kliniğin ${most} isteği zaten bekliyor: önce birini geri çekin`,
  "CONNECTION.OPEN": (clinic) => `${clinic} bu hastayı zaten görüyor: sayfayı yeniden yükleyin`,
  "CONNECTION.NONE": () => "Bu klinik için bekleyen bir şey yok",
  "PAIRING.TOO_MANY": () =>
    "Bu sunucunun birçok kliniği şu anda bilgisayar ekliyor: birkaç dakika bekleyin, sonra yeniden deneyin",
  "PC.LOCAL": () => "Bu bilgisayar buradan cihaz almıyor: bilgisayardaki agent.yaml dosyasını düzenleyin",
  "PROFILE.NAMELESS": () => "Dosya bir klinik profili değil: profile: own/AD ve revision: SAYI satırları bekleniyor",
  "PROFILE.STORED": (profile) => `${profile} başka bir içerikle kayıtlı: değişene sonraki revizyon numarasını verin`,
  "PROFILE.TOO_MANY": (most) => `Klinikte en çok sayıda, ${most} profil revizyonu var`,
  "PC.CHANGED": () => "Cihazlar bu arada değişti: bu pencereyi kapatıp yeniden açın",
  "UPDATE.OTHER_VERSION": (version) => `${version} buradaki en yeni sürüm değil: sayfayı yeniden yükleyin`,
  "UPDATE.NOTHING": () => "Bu sürümü alabilen her bilgisayarda o zaten var: güncellenecek bir şey yok",
  "UPDATE.RUNS_BY": (by) => `${by} zaten bir güncelleme başlattı: bitmesini bekleyin ya da durdurun`,
  "UPDATE.NONE": () => "Süren bir güncelleme yok: sayfayı yeniden yükleyin",
  "UPDATE.ENDED": () => "Bu güncelleme zaten bitti: sayfayı yeniden yükleyin",
  "UPDATE.NOT_ITS_TURN": () => "Sıra artık bu bilgisayarda değil: sayfayı yeniden yükleyin",
  "UPDATE.RUNS": () => "Bu güncelleme sürüyor: önce durdurun",
  "IMPORT.QUESTION": () => "Dosyayla ilgili yanıtlanmamış bir soru var",
  "IMPORT.NO_PREVIEW": () => "Önizleme tamamlanmadı: bitmesini bekleyin",
  "IMPORT.RUNS": () => "İçe aktarma sürüyor: bitmesini bekleyin, sonra geri alın",
  "IMPORT.OTHER_RUNS": () => "Bu kliniğin başka bir içe aktarması sürüyor: bitmesini bekleyin",
  "IMPORT.NOTHING": () => "Bu içe aktarma hiçbir şeyi değiştirmedi",
  "IMPORT.OVER": () => "Bu içe aktarma sona erdi: sayfayı yeniden yükleyin",
  "ORDER.HAS_RESULTS": () => "Bu istemin artık sonuçları var, onlar kalır",
  "ORDER.OTHER_PATIENT": () => "Bu istem, sonuçlardan başka bir hayvan için",
  "ORDER.OTHER_ORDER": () => "Bu sonuçların zaten bir istemi var",
  "ORDER.NOT_ATTACHED": () => "Bu sonuçların son değişikliği başka bir değişiklikti",
  "CONTROL.TOO_LONG": () => "Bu ayın kontrolleri PDF dosyası için çok fazla. CSV dosyasını alın",
  "CONTROL.NO_NUMBER": (analyte, text) => `${analyte} için “${text}” yazılı, bir sayı bekleniyordu`,
  "CONTROL.PROPOSAL_CHANGED": () =>
    "Bu kontrolün ilk ölçümleri bu arada değişti; ortalama ve SS de değişti. Yeni öneriye bakın, sonra kabul edin",
  "NETWORK.OTHER_CLINICS": () =>
    "Bu sunucuda başka klinikler de var: ağını, hepsinde yönetici olan bir kullanıcı değiştirebilir",
  "CLINIC.IS_SUSPENDED": () => "Klinik askıda: önce yeniden açın",
  "CLINIC.IS_SERVED": () => "Klinik hizmet alıyor: önce askıya alın",
  "CLINIC.IS_ERASED": () => "Kliniğin silinmesi başladı: yeniden açılamaz",
  "CLINIC.OTHER_NAME": () => "Kliniğin adı bu değil",
  "ANNOUNCEMENT.OVER": () => "Duyuru başlamadan bitiyor ya da çoktan bitmiş",
  "CLINIC.IS_EXPORTED": () => "Bir dışa aktarım sürüyor: bitmesini bekleyin",
  "USER.NAME_TAKEN": () => "Bu ad başka bir kullanıcının. Başka bir ad seçin",
  "USER.IN_CLINIC": () => "Bu kullanıcı zaten klinikte",
  "USER.LAST_ADMIN": () => "Bir klinikte en az bir yönetici kalır. Önce başka bir kullanıcıyı yönetici yapın",
  "USER.ONESELF": () => "Bu sizin hesabınız. Onu hesap sayfanızda değiştirin",
  "USER.OF_OTHERS": () =>
    "Bu kullanıcı, yöneticisi olmadığınız bir klinikte de var. Onu yalnız kendi kliniğinizden çıkarabilirsiniz",
  "USER.OF_PROVIDER": () =>
    "Bu kullanıcı kurum hesabıyla oturum açıyor, burada parolası yok. Parolayı kurumun hesap sisteminde sıfırlayın",
  "OIDC.UNREACHABLE": () =>
    "Kurumunuzun oturum açma sistemi yanıt vermiyor. Birkaç dakika sonra yeniden deneyin ya da parolayla oturum açın",
  "OIDC.PROVIDER": () =>
    "Kurumunuzun oturum açma sistemi ile bu sunucunun ayarları uyuşmuyor. Sunucudan sorumlu kişiye bildirin: nedeni sunucunun günlüğünde yazıyor",
  "OIDC.DENIED": () => "Oturum açma iptal edildi ya da kurumunuz tarafından reddedildi",
  "OIDC.ENDED": () => "Oturum açma çok uzun sürdü ya da bu bağlantı daha önce kullanıldı. Yeniden oturum açın",
  "OIDC.NOT_VERIFIED": () => "Kurumunuzun oturum açma sisteminden gelen yanıt doğrulanamadı. Yeniden oturum açın",
  "OIDC.NO_ROLE": () =>
    "Kimliğiniz doğrulandı, ancak gruplarınızdan hiçbirinin buradaki bir klinikte rolü yok. Kurumunuzda hesapları yöneten kişiye başvurun",
  "OIDC.NO_OPERATOR": () =>
    "Kimliğiniz doğrulandı, ancak gruplarınızdan hiçbiri sizi bu sunucunun işleticisi yapmıyor. Klinik kullanıcıları /dashboard adresinde oturum açar",
  "OIDC.DISABLED": () =>
    "Bu kullanıcı burada devre dışı. Kliniğinizin bir yöneticisi ya da sunucudan sorumlu kişi onu etkinleştirebilir",
  "FACTOR.WRONG_CODE": () => "Bu kod yanlış. Telefonunuzun saatini kontrol edin",
  "FACTOR.ON": () => "İkinci adımınız zaten açık",
  "FACTOR.OFF": () => "İkinci adımınız kapalı",
  "KEY.TOO_MANY": (most) => `Kliniğin ${most} etkin anahtarı var, en çok ${most}. Önce birini iptal edin`,
  "KEY.ENDED": () => "Bu anahtar iptal edilmiş ya da süresi dolmuş. Yenisini oluşturun",
  "RANGES.CHANGED": () => "Aralıkları bu arada başka biri değiştirdi. Değişikliklere yeniden bakın",
  "INTERVAL.TOO_FEW": (missing) => `Aralık için hayvan sayısı yetersiz: ${missing} hayvan daha gerekiyor`,
  "INTERVAL.TOO_EQUAL": () => "Değerler aralık hesaplanamayacak kadar birbirine eşit",
  "INTERVAL.CHANGED": () => "Bir sonuç bu arada değişti. Hayvanları yeniden arayın",
  "INTERVAL.DECIDED": () => "Bu öneri hakkında bu arada karar verildi. Sayfayı yeniden yükleyin",
  "CHANNEL.TAKEN": () => "Bu adres zaten listede",
  "CHANNEL.TOO_MANY": (most) => `Bir kliniğin en çok ${most} adresi olur: önce birini kaldırın`,
  "CHANNEL.TESTED": (seconds) => `Son deneme az önceydi: ${seconds} saniye bekleyin`,
  "WEBHOOK.URL": (...why) => urlWords("tr", ...why),
  "WEBHOOK.TOO_MANY": (most) => `Kliniğin ${most} webhook'u var, en çok bu kadar olur. Önce birini silin`,
  "DESTINATION.FORM": () =>
    "Bu bir adres değil: makinenin adını veya numarasını, 1024 ya da daha büyük bir portla girin",
  "DESTINATION.PRIVATE": () =>
    "Bu adres yerel ağda ve bu sunucu oraya bağlanamaz: hedefi klinik bilgisayarında tanımlayın ya da sunucuyu --allow-private-webhooks ile başlatın",
  "DESTINATION.FORBIDDEN": () => "Bu adrese sonuç gönderilmez: başka bir adres girin",
  "DESTINATION.NEEDS_TLS": () => "Bu adres internette: şifreli bağlantıyı seçin",
  "DESTINATION.TOO_MANY": (most) => `Kliniğin ${most} hedefi var, en çok bu kadar olur. Önce birini kaldırın`,
  "DESTINATION.UNDER_WAY": () => "Bu sonuç şu anda gönderiliyor ya da artık beklemiyor: bir dakika sonra yeniden bakın",
  "DESTINATION.OF_AGENT": () => "Bu hedefe bir klinik bilgisayarı gönderir: orada, agent.yaml içinde değiştirin",
  "WRITE.DONE": () => "Bu zaten yapıldı: sayfayı yeniden yükleyin",
};

export function refusal(code: RefusalCode, ...values: readonly (string | number)[]): Refusal {
  return reasonOf(code, ...values.map(String));
}

/** Why an address cannot be that of a webhook: the code of a WebhookReason and its values. */
function urlWords(language: Language, code = "HOOK.URL_FORM", ...values: readonly string[]): string {
  return isWebhookCode(code) ? webhookText({ code, values: [...values] }, language).replace(/\.$/, "") : code;
}

function secondsOf(seconds?: string): string {
  return seconds === "1" ? "1 second" : `${seconds} seconds`;
}

/** Returns a refusal as a sentence. */
export function refusalText({ code, values }: Refusal, language: Language = "en"): string {
  const tables: Record<Language, Record<RefusalCode, Words>> = { en: english, tr: turkish };
  return `${tables[language][code](...values)}.`;
}

/** Returns a refusal of a rule as the end of a line, for the problems of an import. */
export function refusalWords(refused: Refusal): string {
  const sentence = refusalText(refused);
  return `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1, -1)}`;
}

/** Whether this program has words for a reason. */
export function isRefusal(reason: Reason): reason is Refusal {
  return Object.hasOwn(english, reason.code);
}
