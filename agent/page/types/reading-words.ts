import type { Language } from "../../../shared/api/language.ts";
import { filingSentences } from "../../../shared/clinical/filing-reasons.ts";
import { type SentencePair, translator } from "../../../shared/clinical/device-words/translator.ts";

// The agent's sentences about its reading of a message: results left out, decisions, and runs that are not for patients. The spool stores
// the sentences in English; the page shows them in its language. A sentence that is not here is shown as it is stored.

/** Names of the protocols that bytes resemble. */
export const protocolWords: readonly SentencePair[] = [
  ["LIS02 records without frames", "çerçevesiz LIS02 kayıtları"],
  ["LIS02 records from SOH to EOT", "SOH ile EOT arasında LIS02 kayıtları"],
  ["LIS01-A2 frames", "LIS01-A2 çerçeveleri"],
  ["a device that waits for ACK", "ACK bekleyen bir cihaz"],
  ["SPOTCHEM EL line", "SPOTCHEM EL satırı"],
  ["SPOTCHEM lines", "SPOTCHEM satırları"],
  ["Arkray urine strip", "Arkray idrar çubuğu"],
  ["DIRUI strip", "DIRUI idrar çubuğu"],
  ["Fujifilm records", "Fujifilm kayıtları"],
  ["HTI records", "HTI kayıtları"],
  ["lines with a check number", "denetim sayılı satırlar"],
  ["IDEXX VetLab Station, port for practice software", "IDEXX VetLab Station, klinik yazılımının bağlantı noktası"],
  ["HL7 over MLLP", "MLLP üzerinden HL7"],
  ["BC-2800Vet", "BC-2800Vet"],
  ["POCT1-A", "POCT1-A"],
  ["DICOM", "DICOM"],
];

const pairs: readonly SentencePair[] = [
  // The first sentences have others within them.
  ["no result could be read: {reason}", "hiçbir sonuç okunamadı: {reason}"],
  ["incomplete: {reason}", "eksik: {reason}"],
  // Left out of the results.
  ["unmapped: {text}", "bilinmeyen kod: {text}"],
  ["{name} has no final value: {reason}", "{name} için kesin değer yok: {reason}"],
  ["{name} has no value: {reason}", "{name} için değer yok: {reason}"],
  ["no value", "değer yok"],
  ["{mark} is not a number", "{mark} bir sayı değil"],
  ["a value of {count} characters, at most {max}", "değer {count} karakter, en çok {max}"],
  ["pending in the instrument ({field} is {mark})", "cihazda bekliyor ({field}: {mark})"],
  ["awaits information ({field} is {mark})", "bilgi bekliyor ({field}: {mark})"],
  ["preliminary ({field} is {mark})", "ön sonuç ({field}: {mark})"],
  ["partial ({field} is {mark})", "kısmi sonuç ({field}: {mark})"],
  ["cannot be done ({field} is {mark})", "çalışılamıyor ({field}: {mark})"],
  ["deleted ({field} is {mark})", "silindi ({field}: {mark})"],
  ["not requested ({field} is {mark})", "istenmedi ({field}: {mark})"],
  ["ordered only ({field} is {mark})", "yalnızca istem ({field}: {mark})"],
  ["not verified ({field} is {mark})", "onaylanmadı ({field}: {mark})"],
  ["the value sent before is wrong ({field} is {mark})", "önce gönderilen değer yanlış ({field}: {mark})"],
  ["discarded ({field} is {mark})", "atıldı ({field}: {mark})"],
  ["rejected ({field} is {mark})", "reddedildi ({field}: {mark})"],
  ["rejected by the device ({field} is {mark})", "cihaz reddetti ({field}: {mark})"],
  ["over the capacity of the device ({field} is {mark})", "cihazın ölçüm kapasitesinin üstünde ({field}: {mark})"],
  ["the device has not set it (its interval is {text})", "cihaz bu değeri belirlemedi (aralığı {text})"],
  ["the device's check is {text}", "cihazın kontrol sonucu: {text}"],
  ["the device has suppressed it", "cihaz değeri gizlemiş"],
  ["the device marks it in a way that is not known", "cihazın bu sonuca koyduğu işaret bilinmiyor"],
  ["the last line has no end yet, and waits", "son satır henüz bitmemiş, bekliyor"],
  ["{name}: no complete XML: {text}", "{name}: XML tamamlanmamış: {text}"],
  ["the device reports error {text}", "cihaz {text} hatasını bildiriyor"],
  ["the measurement failed ({mark})", "ölçüm başarısız ({mark})"],
  ["the electrolyte is out of range ({mark})", "elektrolit aralık dışında ({mark})"],
  ["the slide is expired ({mark})", "slaytın son kullanma tarihi geçmiş ({mark})"],
  ["a quality control is due ({mark})", "kalite kontrol zamanı gelmiş ({mark})"],
  ["above the measuring range ({mark})", "ölçüm aralığının üstünde ({mark})"],
  ["not measured ({mark})", "ölçülmedi ({mark})"],
  ["the run is invalid (its note is {mark})", "çalışma geçersiz (notu {mark})"],
  ["the internal control {name} is Negative", "iç kontrol {name} negatif"],
  ["the column {text} has {count} characters, expected {max}", "{text} sütunu {count} karakter, beklenen {max}"],
  // Decisions.
  ["no unit for {code}, expected {units}", "{code} için birim yok, beklenen {units}"],
  ["unit {name} is not a unit of {code}, expected {units}", "{name}, {code} için bir birim değil, beklenen {units}"],
  ["{name} in {unit} is not {other}: taken as {code}", "{unit} cinsinden {name}, {other} olamaz: {code} sayıldı"],
  [
    "{name} names {one} and {other}: taken as {code}, {reason}",
    "{name}, {one} ve {other} olabilir: {code} sayıldı, {reason}",
  ],
  ["nothing says urine", "idrar olduğunu gösteren bir şey yok"],
  ["the order is a urine order", "istem bir idrar istemi"],
  ["the device's modality is {code}", "cihazın türü {code}"],
  ["{name} is calculated", "{name} hesaplanmış"],
  ["{name} is typed in", "{name} elle girilmiş"],
  [
    "{name} stands more than once: all of its values are kept, in the device's order",
    "{name} birden çok kez var: tüm değerleri cihazın sırasıyla tutuldu",
  ],
  ["{mark} is no time", "{mark} bir zaman değil"],
  [
    "the results carry no readable time: that of receipt stands for it",
    "sonuçlarda okunabilir bir zaman yok: yerine alındığı zaman kullanıldı",
  ],
  [
    "the results carry no readable time: the header's stands for it",
    "sonuçlarda okunabilir bir zaman yok: yerine başlığın zamanı kullanıldı",
  ],
  ["the device's clock is suspect: {text}", "cihazın saati şüpheli: {text}"],
  [
    "the device's time is impossible: another one stands for it",
    "cihazın zamanı olanaksız: yerine başka bir zaman kullanıldı",
  ],
  ["kept in the message, not read: {text}", "iletide duruyor, okunmadı: {text}"],
  ["of the run: {text}", "çalışma bilgisi: {text}"],
  ["{count} manufacturer records (M) are not read", "üreticinin {count} kaydı (M) okunmadı"],
  [
    "{count} results after the first {max} stay in the message alone",
    "ilk {max} sonuçtan sonraki {count} sonuç yalnızca iletide",
  ],
  ["the text is UTF-8, though {name} is declared", "metin UTF-8, oysa {name} bildirilmiş"],
  ["{count} characters that {name} does not have", "{name} içinde olmayan {count} karakter"],
  [
    "the species is number {code} of the clinic's own list, which is not read",
    "tür, kliniğin kendi listesindeki {code} numara; bu liste okunmuyor",
  ],
  [
    "the unit system is {code}, and only the units of system 1 are known",
    "birim sistemi {code}; yalnızca 1. sistemin birimleri biliniyor",
  ],
  // Not for a patient.
  ["order {name} is quality control: not for a patient", "{name} istemi kalite kontrol: hastaya ait değil"],
  ["order {name} is not for a patient", "{name} istemi hastaya ait değil"],
  ["a note says quality control: not for a patient", "bir not kalite kontrol diyor: hastaya ait değil"],
  ["an M record says quality control: not for a patient", "bir M kaydı kalite kontrol diyor: hastaya ait değil"],
  [
    "a result without an order is quality control: not for a patient",
    "istemsiz sonuç kalite kontrol: hastaya ait değil",
  ],
  ["the specimen is a control: not for a patient", "numune bir kontrol: hastaya ait değil"],
  ["sample {name} is a control: not for a patient", "{name} numunesi bir kontrol: hastaya ait değil"],
  ["{name} is the lot of a control: not for a patient", "{name} bir kontrolün lotu: hastaya ait değil"],
  ["without a PID it is a control: not for a patient", "PID olmadığı için bir kontrol: hastaya ait değil"],
  ["a control (sample {name})", "kontrol ({name} numunesi)"],
  ["a control run ({name})", "kontrol çalışması ({name})"],
  ["quality control (identifier {mark})", "kalite kontrol (numara {mark})"],
  ["quality control ({field} is {mark})", "kalite kontrol ({field}: {mark})"],
  ["calibration ({field} is {mark})", "kalibrasyon ({field}: {mark})"],
  ["training ({field} is {mark})", "eğitim ({field}: {mark})"],
  ["demo or debug ({field} is {mark})", "tanıtım veya hata ayıklama ({field}: {mark})"],
  ["a calibration", "kalibrasyon"],
  ["a start-up check: {text}", "açılış denetimi: {text}"],
  ["not a patient's run (MODE is {mark})", "bir hastanın çalışması değil (MODE: {mark})"],
  ["not of a patient: {text}", "hastaya ait değil: {text}"],
  ["no results (sign-on or status)", "sonuç yok (oturum veya durum iletisi)"],
  ["no results ({field} is {mark})", "sonuç yok ({field}: {mark})"],
  ["no results (MSH-9 is )", "sonuç yok (MSH-9 boş)"],
  ["no results", "sonuç yok"],
  ["an alarm ({field} is {mark})", "bir alarm ({field}: {mark})"],
  ["a query for orders ({mark})", "istem sorgusu ({mark})"],
  ["host query", "istem sorgusu"],
  ["the device asks for a patient", "cihaz bir hasta soruyor"],
  ["the device has begun a test (S)", "cihaz bir teste başladı (S)"],
  ["a list of practice software has no results", "klinik yazılımının listesinde sonuç olmaz"],
  ["it changes no animal and no order", "hiçbir hayvanı ve istemi değiştirmez"],
  // Not readable.
  ["the text has no result", "metinde sonuç yok"],
  ["{name} is no longer in the configuration", "{name} artık yapılandırmada değil"],
  ["the sum of the record {name} is {code}, not {mark}", "{name} kaydının toplamı {code}, gönderilen {mark}"],
  ["checksum {mark}, computed {code}", "sağlama toplamı {mark}, hesaplanan {code}"],
  ["no device {name} in the configuration", "yapılandırmada {name} cihazı yok"],
  ["the connection closed before the L record", "bağlantı L kaydından önce kapandı"],
  ["the session ended before the L record", "oturum L kaydından önce bitti"],
  ["the connection closed before the end of the frame", "bağlantı çerçevenin sonundan önce kapandı"],
  ["the connection closed before the end of the text", "bağlantı metnin sonundan önce kapandı"],
  ["the connection closed before the end of the body", "bağlantı içeriğin sonundan önce kapandı"],
  ["a new frame began before its end", "bitmeden yeni bir çerçeve başladı"],
  ["a new text began before its end", "bitmeden yeni bir metin başladı"],
  ["cut short by the next document", "sonraki belge onu yarıda kesti"],
  [
    "{name}, computed {code}: bytes of it are wrong or missing",
    "{name}, hesaplanan {code}: baytları yanlış veya eksik",
  ],
  ["the first segment is {text}, expected MSH", "ilk bölüm {text}, beklenen MSH"],
  ["message type {text} is not taken", "{text} türünde ileti alınmıyor"],
  ["the message lacks row {text}", "iletide {text} satırı eksik"],
  ["the sender is {text}, not what profile {name} reads", "gönderen {text}; {name} profili bunu okumaz"],
  ["system error ({field} is {mark})", "sistem hatası ({field}: {mark})"],
  ["no HELLO before the document: unknown device", "belgeden önce HELLO yok: cihaz bilinmiyor"],
  ["no SVC: unknown measurement", "SVC yok: ölçüm bilinmiyor"],
  [
    "results without a patient (PT) and a control (CTC): whose are they?",
    "hastası (PT) ve kontrolü (CTC) olmayan sonuçlar: kime ait?",
  ],
  [
    "{count} results without an order (O) and a patient (P): whose are they?",
    "istemi (O) ve hastası (P) olmayan {count} sonuç: kime ait?",
  ],
];

const translate = translator([...pairs, ...filingSentences, ...protocolWords]);

/** Returns the sentences of the agent's reading in the language; null if one of them is not known. */
export function readingText(stored: string, language: Language): string | null {
  const sentences = stored.split("; ").map((each) => translate(each, language));
  return sentences.includes(null) ? translate(stored, language) : sentences.join("; ");
}
