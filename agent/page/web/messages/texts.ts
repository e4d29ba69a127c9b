import { translations } from "../../../../server/web/text.ts";

export const t = translations({
  maker: ["Make a profile of this", "Bundan profil yap"],
  messages: ["Messages", "İletiler"],
  title: ["{device}, {at}", "{device}, {at}"],
  number: ["Message", "İleti"],
  device: ["Device", "Cihaz"],
  anyDevice: ["Every device", "Tüm cihazlar"],
  state: ["State", "Durum"],
  all: ["All", "Tümü"],
  pending: ["waits for the server", "sunucuyu bekliyor"],
  filed: ["filed", "kaydedildi"],
  unmatched: ["patient not known", "hasta bilinmiyor"],
  "not-for-patients": ["not for a patient", "hastaya ait değil"],
  quarantined: ["not readable", "okunamadı"],
  received: ["Received", "Alındı"],
  sample: ["Sample", "Numune"],
  reason: ["Reason", "Neden"],
  none: ["No message yet", "Henüz ileti yok"],
  noneNext: [
    "Press “send” on a device. Its message appears here immediately.",
    "Bir cihazda “gönder” düğmesine basın. İletisi hemen burada görünür.",
  ],
  noMatch: ["No message fits", "Uyan ileti yok"],
  noMatchNext: [
    "Choose another device or state, or look at older messages.",
    "Başka bir cihaz veya durum seçin ya da daha eski iletilere bakın.",
  ],
  older: ["Older messages", "Daha eski iletiler"],
  newest: ["Newest messages", "En yeni iletiler"],
  back: ["All messages", "Tüm iletiler"],
  raw: ["What the device sent", "Cihazın gönderdiği"],
  report: ["What was read", "Okunan"],
  study: ["What was filed", "Kaydedilen"],
  bytes: ["{count} {count|byte|bytes}", "{count} bayt"],
  cut: [
    "The first {shown} of {count} {count|byte|bytes}. The recording holds all of them.",
    "{count} baytın ilk {shown} baytı. Tamamı dosyaya kaydedilir.",
  ],
  asText: ["Text", "Metin"],
  asHex: ["Bytes (hex)", "Baytlar (onaltılık)"],
  image: [
    "This is an image. Its bytes are a file in the data folder.",
    "Bu bir görüntü. Baytları veri klasöründe bir dosyadır.",
  ],
  document: ["Document", "Belge"],
  documentText: [
    "The text of its pages. No value is read from a document.",
    "Sayfalarının metni. Belgelerden değer okunmaz.",
  ],
  documentWithoutText: [
    "Its pages have no text, such as scanned ones. No value is read from a document.",
    "Sayfalarında metin yok, örneğin taranmış olabilir. Belgelerden değer okunmaz.",
  ],
  saveDocument: ["Save the document", "Belgeyi kaydet"],
  studyName: ["Study", "Tetkik"],
  results: ["Results of the message", "İletinin sonuçları"],
  noReport: ["Nothing could be read", "Hiçbir şey okunamadı"],
  code: ["Code", "Kod"],
  value: ["Value", "Değer"],
  unit: ["Unit", "Birim"],
  deviceRange: ["Device’s range", "Cihazın aralığı"],
  deviceFlag: ["Device’s flag", "Cihazın işareti"],
  identifier: ["Number", "Numara"],
  name: ["Name", "Ad"],
  species: ["Species", "Tür"],
  measured: ["Measured", "Ölçüm"],
  patient: ["Patient", "Hasta"],
  noPatient: ["no patient", "hasta yok"],
  notes: ["Notes", "Notlar"],
  revision: ["revision {revision}", "{revision}. sürüm"],
  queued: ["waits for the server", "sunucuyu bekliyor"],
  stored: ["the server has it", "sunucuda"],
  conflict: ["refused by the server", "sunucu reddetti"],
  rejected: ["refused by the server", "sunucu reddetti"],
  control: ["Control material", "Kontrol materyali"],
  controlValues: ["Values of the control", "Kontrolün değerleri"],
  level: ["Level", "Düzey"],
  material: ["Material", "Materyal"],
  lot: ["Lot", "Lot"],
  expires: ["Expiry", "Son kullanma"],
  target: ["Target of the device", "Cihazın hedefi"],
  events: ["About the device", "Cihaz hakkında"],
  event: ["Event", "Olay"],
  subject: ["Of", "Konu"],
  count: ["Count", "Sayı"],
  text: ["Words of the device", "Cihazın bildirdiği"],
  server: ["Server", "Sunucu"],
  time: ["Time", "Zaman"],
  reagent: ["reagent in use", "kullanılan reaktif"],
  calibration: ["calibration", "kalibrasyon"],
  maintenance: ["maintenance", "bakım"],
  counter: ["counter", "sayaç"],
  fault: ["fault", "arıza"],
  start: ["switched on", "açıldı"],
  timeLine: ["Way of this message", "Bu iletinin yolu"],
  forSupport: ["For support", "Destek için"],
  save: ["Save as a file for support", "Destek için dosyaya kaydet"],
  saved: ["Saved as {file}. Names are replaced.", "{file} olarak kaydedildi. Adlar değiştirildi."],
  reprocess: ["Process again", "Yeniden işle"],
  reprocessTitle: ["Process this message again", "Bu iletiyi yeniden işle"],
  reprocessWhy: [
    "After a change of the configuration, a code or a patient, this message may become something else.",
    "Yapılandırma, bir kod veya bir hasta değiştiyse bu iletinin sonucu değişebilir.",
  ],
  noChange: ["Nothing would change.", "Hiçbir şey değişmez."],
  wouldChange: [
    "This would change. Lines with − go, lines with + come.",
    "Şunlar değişir. − olan satırlar gider, + olanlar gelir.",
  ],
  store: ["Store the change", "Değişikliği kaydet"],
  reprocessed: ["Stored. The agent sends it within some minutes.", "Kaydedildi. Aracı birkaç dakika içinde gönderir."],
});

const STATES = ["quarantined", "unmatched", "pending", "filed", "not-for-patients"] as const;
const SENT_STATES = ["queued", "filed", "stored", "unmatched", "conflict", "rejected"] as const;

/** The states of a message, first what needs a person. */
export function messageStates(): readonly string[] {
  return STATES;
}

/** Red needs a person here; a message of an unknown patient waits for the desk at the dashboard. */
export function stateTone(state: string): "good" | "bad" | "warn" | "plain" {
  if (state === "quarantined" || state === "conflict" || state === "rejected") return "bad";
  if (state === "unmatched") return "warn";
  return state === "filed" || state === "stored" ? "good" : "plain";
}

/** Returns the word for the state of a message, a study or a record of a control. */
export function stateWord(state: string): string {
  const known = [...STATES, ...SENT_STATES].find((one) => one === state);
  return known === undefined ? state : t(known);
}
