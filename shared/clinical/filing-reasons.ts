import type { FilingCode } from "../api/filing-code.ts";
import type { Reason } from "../api/reason.ts";
import type { Language } from "../api/language.ts";

// The words of an unmatched, refused or contradicting study: for pages, command lines, logs and the `reason` of an outcome.

type Words = (...values: readonly string[]) => string;

/** Max values of a sentence with gaps. A study has at most 8 numbers. */
const GAPS_MAX = 9;

const english: Record<FilingCode, Words> = {
  "MATCH.NO_IDENTIFIER": () => "the device sent no patient identifier",
  "MATCH.NO_IDENTIFIER_OR_NAME": () => "the device sent no patient identifier, nor a name with a species",
  "MATCH.UNCONFIRMED_PROFILE": (profile, fp) =>
    `the first study of the profile ${profile} waits for a person: it names ${fp}; place it, and the next ones file by themselves`,
  "MATCH.UNKNOWN_IDENTIFIER": (identifier) => `no patient has the identifier "${identifier}"`,
  "MATCH.UNKNOWN_SAMPLE": (...numbers) => `no patient has the sample number ${quoted(numbers, "or")}`,
  "MATCH.NO_DIRECTORY": () => "the clinic's patients were never fetched: waiting for the first list",
  "MATCH.SEVERAL_PATIENTS": (count) => `the identifiers name ${count} patients`,
  "MATCH.ACCESSION_OF_REMOVED": (accession) =>
    `accession ${accession} was issued for a patient that the clinic no longer has`,
  "MATCH.ACCESSION_OF_OTHER": (accession) =>
    `accession ${accession} was issued for another patient than the identifiers name`,
  "MATCH.SPECIES": (stated, known) => `species contradiction: the device says ${stated}, the patient is a ${known}`,
  "MATCH.NAME_UNKNOWN": (species, name) => `the clinic has no ${species} with the name "${name}"`,
  "MATCH.NAME_SEVERAL": (count, name) => `${count} patients have the name "${name}" or a similar one`,
  "MATCH.NAME_NO_EVENT": (name) => `"${name}" has no event on the day of the sample`,
  "MATCH.NAME_OTHER_SEX": (name, stated, known) =>
    `"${name}" may be another patient: the device says ${stated}, the patient is ${known}`,
  "MATCH.NAME_OTHER_BIRTH": (name, stated, known) =>
    `"${name}" may be another patient: the device says born on ${stated}, the patient on ${known}`,
  "MATCH.NAME_OTHER_WEIGHT": (name, stated, known) =>
    `"${name}" may be another patient: the device says ${stated} kg, the patient has ${known}`,
  "MATCH.IDENTIFIER_MOVED": (fp, now, ...numbers) =>
    `the number ${quoted(numbers, "or")} names ${now === "" ? "no patient" : now?.replaceAll(" ", " and ")} now, the agent took it for ${fp}`,
  "MATCH.IDENTIFIER_EARLIER": (fp, then, ...numbers) =>
    `the number ${quoted(numbers, "or")} named ${then?.replaceAll(" ", " and ")} when the sample was measured, the agent took it for ${fp}`,
  "MATCH.NAME_MOVED": (fp, count) =>
    `the agent matched ${fp} by its name, but ${count === "" ? "it has no appointment that day now" : `${count} patients have that name or a similar one now`}`,
  "MATCH.ORDER_MOVED": (fp, order, owner) =>
    `the agent matched ${fp} by ${order}, which is ${owner === "" ? "not an order of this clinic" : `an order for ${owner}`}`,
  "MATCH.DECEASED": (fp, died, measured) => `patient ${fp} died on ${died}, and the sample was measured on ${measured}`,
  "MATCH.OTHER_SPECIES": (stated, known) =>
    `species contradiction: the device says ${stated}, the patient is a ${known} now`,
  "PATIENT.NONE": () => "patient_fp is null, expected the patient's fp",
  "PATIENT.UNKNOWN": (fp) => `patient ${fp} does not exist`,
  "PATIENT.NOT_CONNECTED": (fp) => `patient ${fp} has no active connection to this clinic`,
  "PATIENT.LEFT_OPEN": (why) => why,
  "PATIENT.DELETED": (fp) => `its patient ${fp} was deleted`,
  "PERSON.TOOK_BACK": (fp, why) => `a person took it back from ${fp}: ${why}`,
  "PERSON.REOPENED": (fp) => `a person took it back from ${fp}`,
  "PERSON.UNREJECTED": () => "a person rejected it and took that back",
  "STUDY.FILED_ELSEWHERE": (stored, sent) => `this study is filed to ${stored}, this revision is for ${sent}`,
  "STUDY.PLACED_ELSEWHERE": (stored, sent) => `a person filed this study to ${stored}, this revision is for ${sent}`,
  // The words must not reveal that another clinic has the study.
  "STUDY.FP_TAKEN": () => "this fp cannot be used here, make a new one",
  "STUDY.OTHER_BODY": (revision) =>
    `revision ${revision} is already stored with another body, a correction needs a higher revision`,
  "STUDY.OLDER_REVISION": (sent, stored) => `revision is ${sent}, revision ${stored} is current`,
  "STUDY.TWIN": (fp) => `dedupe_key is already used by ${fp}, with the same results`,
  "STUDY.OTHER_TWIN": (fp) => `dedupe_key is already used by ${fp}, with other results`,
  "STUDY.DAMAGED": (revision) => `the stored revision ${revision} is damaged, expected that revision or a later one`,
  "STUDY.DAMAGED_PLACEMENT": () =>
    "the stored study is damaged after a person placed it: restore a backup of the server",
  "RECORD.DAMAGED": (what) => `${what}; restore a backup of the server`,
  "STUDY.INVALID": (...faults) => faults.join("; "),
  "STUDY.AFTER_CLOCK": (...faults) => faults.join("; "),
  "CLINIC.FULL": () =>
    "the clinic stores as many studies as this server allows: the operator of the server can raise the limit",
  "CLINIC.SUSPENDED": () => "the operator of the server has suspended the clinic, its results wait here until then",
};

/** The reasons that a page shows. The agent logs a refused push in English. */
const turkish: Partial<Record<FilingCode, Words>> = {
  "MATCH.NO_IDENTIFIER": () => "cihaz hasta numarası göndermedi",
  "MATCH.NO_IDENTIFIER_OR_NAME": () => "cihaz ne hasta numarası ne de türüyle birlikte bir ad gönderdi",
  "MATCH.UNCONFIRMED_PROFILE": (profile, fp) =>
    `${profile} profilinin ilk çalışması onay bekliyor: ${fp} hastasını gösteriyor; siz yerleştirin, sonrakiler kendiliğinden dosyalanır`,
  "MATCH.UNKNOWN_IDENTIFIER": (identifier) => `"${identifier}" numaralı hasta yok`,
  "MATCH.UNKNOWN_SAMPLE": (...numbers) => `örnek numarası ${quoted(numbers, "veya")} olan hasta yok`,
  "MATCH.NO_DIRECTORY": () => "kliniğin hastaları henüz alınmadı: ilk liste bekleniyor",
  "MATCH.SEVERAL_PATIENTS": (count) => `numaralar ${count} hastayı gösteriyor`,
  "MATCH.ACCESSION_OF_REMOVED": (accession) => `${accession} istem numarası artık klinikte olmayan bir hastanındı`,
  "MATCH.ACCESSION_OF_OTHER": (accession) =>
    `${accession} istem numarası, numaraların gösterdiğinden başka bir hastanındı`,
  "MATCH.SPECIES": (stated, known) => `tür çelişkisi: cihaz ${stated} diyor, hasta ${known}`,
  "MATCH.NAME_UNKNOWN": (species, name) => `klinikte "${name}" adlı bir hasta yok (${species})`,
  "MATCH.NAME_SEVERAL": (count, name) => `${count} hastanın adı "${name}" ya da buna benziyor`,
  "MATCH.NAME_NO_EVENT": (name) => `"${name}" için örneğin gününde randevu yok`,
  "MATCH.NAME_OTHER_SEX": (name, stated, known) =>
    `"${name}" başka bir hasta olabilir: cihaza göre ${stated}, hasta ${known}`,
  "MATCH.NAME_OTHER_BIRTH": (name, stated, known) =>
    `"${name}" başka bir hasta olabilir: cihaza göre doğumu ${stated}, hastanınki ${known}`,
  "MATCH.NAME_OTHER_WEIGHT": (name, stated, known) =>
    `"${name}" başka bir hasta olabilir: cihaza göre ${stated} kg, hasta ${known} kg`,
  "MATCH.IDENTIFIER_MOVED": (fp, now, ...numbers) =>
    `${quoted(numbers, "veya")} numarası artık ${now === "" ? "hiçbir hastanın değil" : `${now?.replaceAll(" ", " ve ")} hastasının`}, cihaz bilgisayarı ${fp} sanmıştı`,
  "MATCH.IDENTIFIER_EARLIER": (fp, then, ...numbers) =>
    `${quoted(numbers, "veya")} numarası, numune ölçüldüğünde ${then?.replaceAll(" ", " ve ")} hastasınındı, cihaz bilgisayarı ${fp} sanmıştı`,
  "MATCH.NAME_MOVED": (fp, count) =>
    `cihaz bilgisayarı ${fp} hastasını adından buldu, ama ${count === "" ? "hastanın o gün artık randevusu yok" : `bu ada ya da benzerine artık ${count} hasta sahip`}`,
  "MATCH.ORDER_MOVED": (fp, order, owner) =>
    `cihaz bilgisayarı ${fp} hastasını ${order} isteminden buldu, ama bu ${owner === "" ? "istem bu klinikte yok" : `istem ${owner} için`}`,
  "MATCH.DECEASED": (fp, died, measured) =>
    `${fp} hastası ${died} tarihinde öldü, numune ise ${measured} tarihinde ölçüldü`,
  "MATCH.OTHER_SPECIES": (stated, known) => `tür çelişkisi: cihaz ${stated} diyor, hasta şimdi ${known}`,
  "PATIENT.NONE": () => "gönderen hasta belirtmedi",
  "PATIENT.UNKNOWN": (fp) => `${fp} hastası yok`,
  "PATIENT.NOT_CONNECTED": (fp) => `${fp} hastasının bu klinikle etkin bağlantısı yok`,
  "PATIENT.DELETED": (fp) => `hastası ${fp} silindi`,
  "PERSON.TOOK_BACK": (fp, why) => `bir kullanıcı ${fp} hastasından geri aldı: ${why}`,
  "PERSON.REOPENED": (fp) => `bir kullanıcı ${fp} hastasından geri aldı`,
  "PERSON.UNREJECTED": () => "bir kullanıcı reddetti, sonra bundan vazgeçti",
  "STUDY.FILED_ELSEWHERE": (stored, sent) => `bu çalışma ${stored} hastasında, bu sürüm ${sent} için`,
  "STUDY.PLACED_ELSEWHERE": (stored, sent) =>
    `bir kullanıcı bu çalışmayı ${stored} hastasına koydu, bu sürüm ${sent} için`,
  "STUDY.OTHER_BODY": (revision) => `${revision}. sürüm başka bir içerikle kayıtlı`,
  "STUDY.OTHER_TWIN": (fp) => `aynı ölçüm ${fp} altında başka sonuçlarla kayıtlı`,
};

function quoted(texts: readonly string[], or: string): string {
  return texts.map((text) => `"${text}"`).join(` ${or} `);
}

/** Returns the words of a reason. A code of another version is its own word. */
export function filingReasonText(reason: Reason, language: Language = "en"): string {
  return filingWords(reason, language) ?? filingWords(reason, "en") ?? [reason.code, ...reason.values].join(" ");
}

/** @returns the words of a reason in that language; null if its code has none */
export function filingWords({ code, values }: Reason, language: Language): string | null {
  const tables: Record<Language, Partial<Record<string, Words>>> = { en: english, tr: turkish };
  return tables[language][code]?.(...values) ?? null;
}

/**
 * The sentences of the reasons that have words in both languages, with gaps for their values: `{text1}`. The longest is first, since
 * the gap of a shorter one would take the rest of its words.
 */
export const filingSentences: readonly (readonly [english: string, turkish: string])[] = Object.entries(turkish)
  .flatMap(([code, words]) => {
    const inEnglish = english[code as FilingCode];
    const sentences = new Map(valuesOf(inEnglish).map((values) => [inEnglish(...values), words(...values)] as const));
    return [...sentences];
  })
  .toSorted(([one], [other]) => other.length - one.length);

/** Returns gaps for the values of a reason: as many as it may list, and with each of them left out, which has words of its own. */
function valuesOf(words: Words): string[][] {
  const least = Math.max(words.length, 1);
  return Array.from({ length: GAPS_MAX - least + 1 }, (_, more) => {
    const gaps = Array.from({ length: least + more }, (__, index) => `{text${index + 1}}`);
    return [gaps, ...gaps.map((_gap, index) => gaps.with(index, ""))];
  }).flat();
}
