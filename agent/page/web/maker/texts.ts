import type { LocalSentProfile } from "../../types/own-profiles.ts";
import type { ChangeKind, ProposalReason } from "../../types/maker.ts";
import { translations } from "../../../../server/web/text.ts";

export const t = translations({
  title: ["New profile", "Yeni profil"],
  why: [
    "Say once what the device’s fields mean. Nothing leaves this PC by itself, and nothing changes before you use the profile.",
    "Cihazın alanlarının anlamını bir kez belirtin. Hiçbir şey bu bilgisayardan kendiliğinden çıkmaz ve profili kullanana kadar hiçbir şey değişmez.",
  ],
  undo: ["Undo ({count})", "Geri al ({count})"],
  otherBytes: ["Other bytes", "Başka veri"],
  ofDevice: ["What a device sent", "Bir cihazın gönderdikleri"],
  nothingSent: ["It has sent nothing yet.", "Henüz bir şey göndermedi."],
  itsMessages: ["Messages ({count})", "İletiler ({count})"],
  openMessages: ["Open messages of {device} ({count})", "{device} iletilerini aç ({count})"],
  openNoise: [
    "Open {count} {count|byte|bytes} of {device} that no message has",
    "{device}: iletiye girmemiş {count} baytı aç",
  ],
  paste: ["Paste or file", "Yapıştır veya dosya"],
  bytes: ["What the device sent", "Cihazın gönderdiği"],
  bytesHint: [
    "A line for each record. Control characters may be written by name, such as <STX>.",
    "Her kayıt için bir satır. Denetim karakterleri adıyla yazılabilir, örneğin <STX>.",
  ],
  isHex: ["These are bytes in hexadecimal", "Bunlar onaltılık baytlar"],
  open: ["Open", "Aç"],
  file: ["A recording or a file of the device", "Bir kayıt veya cihazın dosyası"],
  found: ["Looks like {name}", "{name} gibi görünüyor"],
  nothingFound: ["Nothing known is recognised", "Bilinen bir biçim bulunamadı"],
  whyHl7: [
    "A line begins with MSH and declares its separators.",
    "Bir satır MSH ile başlıyor ve ayraçlarını bildiriyor.",
  ],
  whyAstm: ["The lines are records, from H on.", "Satırlar H ile başlayan kayıtlar."],
  "generic-hl7": ["Any analyzer with HL7", "HL7 gönderen herhangi bir cihaz"],
  "generic-astm": ["Any analyzer with ASTM", "ASTM gönderen herhangi bir cihaz"],
  "generic-astm-raw": ["Any analyzer with ASTM without frames", "Çerçevesiz ASTM gönderen herhangi bir cihaz"],
  "generic-poct1a": ["Any device with POCT1-A", "POCT1-A gönderen herhangi bir cihaz"],
  "practice-system": ["Practice software (HL7)", "Muayenehane yazılımı (HL7)"],
  base: ["Begin with", "Başlangıç profili"],
  baseHint: ["The profile that your clicks change.", "Tıklamalarınızın değiştirdiği profil."],
  baseLoses: ["Another profile begins without your clicks.", "Başka bir profil tıklamalarınız olmadan başlar."],
  proposals: ["Perhaps", "Belki"],
  proposalsWhy: [
    "Guessed from the texts. Take away what is wrong.",
    "Metinlerden tahmin edildi. Yanlış olanın işaretini kaldırın.",
  ],
  at: ["at {place}", "({place})"],
  but: ["but {reason}", "ancak {reason}"],
  takeProposals: ["Take the chosen ({count})", "Seçilenleri al ({count})"],
  came: ["1 What came", "1 Gelen"],
  cameHint: [
    "Open a line, choose a field, say what it means. Arrow keys move, digits choose.",
    "Bir satır açın, alan seçin, anlamını belirtin. Ok tuşları gezdirir, rakamlar seçer.",
  ],
  fixed: [
    "The program reads this device by code, so its places are fixed: look, but no click changes them.",
    "Program bu cihazı kodla okur, yerleri sabittir: bakabilirsiniz, ancak tıklamayla değişmez.",
  ],
  stillOpen: ["Still to say:", "Belirtilmesi gerekenler:"],
  blank: ["A profile of its own, from the start", "Baştan, kendine ait bir profil"],
  table: ["The table", "Tablo"],
  row: ["Row", "Satır"],
  noTime: ["“{text}” is no time that can be read.", "“{text}” okunabilir bir zaman değil."],
  whichFormat: ["How is {text} written (d day, M month)?", "{text} hangi biçimde (d gün, M ay)?"],
  message: ["Message {number}", "İleti {number}"],
  line: ["Line {number}", "Satır {number}"],
  lineOf: ["line {number}", "satır {number}"],
  means: ["{place} means", "{place} anlamı"],
  noRole: ["A profile cannot read this place.", "Profil bu yeri okuyamaz."],
  whichSpecies: ["Which species is {text}?", "{text} hangi tür?"],
  asWritten: ["As written", "Yazıldığı gibi"],
  dog: ["Dog", "Köpek"],
  cat: ["Cat", "Kedi"],
  rabbit: ["Rabbit", "Tavşan"],
  bird: ["Bird", "Kuş"],
  reptile: ["Reptile", "Sürüngen"],
  exotic: ["Exotic", "Egzotik"],
  horse: ["Horse", "At"],
  inWords: ["In words", "Açıklaması"],
  take: ["Take", "Al"],
  refused: ["The profile cannot say this.", "Profil bunu ifade edemez."],
  sees: ["2 What the clinic will see", "2 Kliniğin göreceği"],
  noResults: ["No results are read.", "Sonuç okunmuyor."],
  device: ["Device", "Cihaz"],
  unread: ["Texts that nothing reads ({count})", "Okunmayan metinler ({count})"],
  unknownCodes: ["Codes without a name: {count}", "Adı olmayan kod: {count}"],
  rows: ["Rows", "Satırlar"],
  code: ["Code", "Kod"],
  analyte: ["Analyte", "Analit"],
  value: ["Value", "Değer"],
  range: ["Interval", "Aralık"],
  flag: ["Flag", "Bayrak"],
  printed: ["Print-out", "Çıktı"],
  printedOf: ["{code} on the print-out", "Çıktıdaki {code}"],
  agrees: ["agrees", "uyuyor"],
  differs: ["differs", "farklı"],
  notNamed: ["not named", "adı yok"],
  analyteOf: ["Analyte of {code}", "{code} kodunun analiti"],
  analyteCode: ["Code, Enter", "Kod, Enter"],
  byRule: ["By rule {number}:", "Kural {number}:"],
  notes: ["Notes ({count})", "Notlar ({count})"],
  use: ["3 Use it", "3 Kullan"],
  deviceName: ["Name of the device", "Cihazın adı"],
  deviceNameHint: ["As results show it. Empty: the device’s own.", "Sonuçlarda görünen ad. Boşsa cihazın kendi adı."],
  kind: ["Kind of results", "Sonuç türü"],
  kindHint: ["Decides codes with two meanings.", "İki anlamlı kodlarda belirleyicidir."],
  byAnalytes: ["By the analytes", "Analitlere göre"],
  profileName: ["Name of the profile", "Profilin adı"],
  profileNameHint: [
    "Small letters, digits and dashes, such as acme-x1.",
    "Küçük harf, rakam ve tire, örneğin acme-x1.",
  ],
  runOn: ["Use it for", "Kullanılacak cihaz"],
  noDevice: ["no device yet", "henüz hiçbiri"],
  check: ["Check all messages of {device}", "{device} cihazının tüm iletilerini denetle"],
  checking: ["Reading…", "Okunuyor…"],
  checked: ["{count} {count|message|messages} read, {same} as before", "{count} ileti okundu, {same} aynı"],
  saveOnly: ["Save", "Kaydet"],
  saveAndRun: ["Use for {device}", "{device} için kullan"],
  backTo: ["Undo: back to {profile}", "Geri al: {profile}"],
  saved: ["Saved as {profile}.", "{profile} olarak kaydedildi."],
  runs: ["{device} is read by {profile} from now on.", "{device} artık {profile} ile okunuyor."],
  itsNewest: ["Its messages", "İletileri"],
  changed: [
    "Not saved: {profile} was stored meanwhile. The difference to this draft:",
    "Kaydedilmedi: bu arada {profile} kaydedildi. Bu taslaktan farkı:",
  ],
  difference: ["Difference", "Fark"],
  notSaved: ["Not saved", "Kaydedilmedi"],
  notRun: ["{profile} is saved, but the device does not use it", "{profile} kaydedildi, ancak cihaz kullanmıyor"],
  ownProfiles: ["The clinic’s profiles on this PC", "Bu bilgisayardaki klinik profilleri"],
  sendWhy: [
    "The dashboard keeps a profile that you send, and an admin can use it on another PC of the clinic.",
    "Gönderdiğiniz profil panoda saklanır ve bir yönetici onu kliniğin başka bir bilgisayarında kullanabilir.",
  ],
  send: ["Send {profile} to the dashboard", "{profile} profilini panoya gönder"],
  asText: ["As text", "Metin olarak"],
});

const roles = translations({
  identifier: ["Number of the animal", "Hayvan numarası"],
  name: ["Name of the animal", "Hayvanın adı"],
  owner: ["Owner", "Sahibi"],
  species: ["Species", "Tür"],
  sex: ["Sex", "Cinsiyet"],
  born: ["Born", "Doğum"],
  typed: ["Number or name, as typed", "Yazılan numara veya ad"],
  sample: ["Sample number", "Numune numarası"],
  time: ["Time", "Zaman"],
  code: ["Code", "Kod"],
  value: ["Value", "Değer"],
  unit: ["Unit", "Birim"],
  range: ["Interval", "Aralık"],
  flag: ["Flag", "Bayrak"],
  status: ["Status", "Durum"],
  high: ["This means high", "Yüksek demek"],
  low: ["This means low", "Düşük demek"],
  normal: ["This means normal", "Normal demek"],
  doubt: ["The device doubts it", "Cihaz şüpheli buluyor"],
  final: ["This means final", "Kesin demek"],
  empty: ["This means empty", "Boş demek"],
  remark: ["Not a result", "Sonuç değil"],
  "species-row": ["The row is the species", "Satır türü veriyor"],
  "no-value": ["No result if it is this", "Böyleyse sonuç yok"],
  sender: ["Only this device", "Yalnızca bu cihaz"],
  tests: ["Tests begin here, one a column", "Testler buradan başlar, sütun başına bir"],
  control: ["A control if it is this", "Böyleyse kontrol"],
  header: ["This line names the columns", "Sütun adları bu satırda"],
  records: ["Each of these is a result", "Bunların her biri bir sonuç"],
  "line-result": ["A line of a result", "Sonuç satırı"],
  "line-sample": ["A line about the sample", "Numune satırı"],
  "line-filler": ["A line without meaning", "Anlamı olmayan satır"],
  nothing: ["Nothing", "Hiçbiri"],
});

const sent = translations({
  stored: ["The dashboard has it now.", "Pano artık profili biliyor."],
  known: ["The dashboard has it already.", "Pano profili zaten biliyor."],
  "PROFILE.STORED": [
    "The dashboard has another content under this revision: save yours as a new revision, and send that.",
    "Panoda bu revizyon başka bir içerikle kayıtlı: sizinkini yeni revizyon olarak kaydedip onu gönderin.",
  ],
  "PROFILE.TOO_MANY": ["The clinic has too many profiles at the dashboard.", "Kliniğin panoda çok fazla profili var."],
  "PROFILE.NAMELESS": ["The file does not name this profile.", "Dosya bu profilin adını taşımıyor."],
  "PROFILE.HASH": ["It arrived damaged. Send it again.", "Profil bozuk ulaştı. Yeniden gönderin."],
});

export function sentWord({ outcome, code }: LocalSentProfile): string {
  return sent(outcome === "refused" ? (code ?? "PROFILE.HASH") : outcome);
}

export const openWord = translations({
  header: ["the line with the names of the columns", "sütun adlarının satırı"],
  records: ["which element is a result", "hangi öğe bir sonuç"],
  lines: ["which lines are results", "hangi satırlar sonuç"],
  sample: ["the sample’s or the animal’s number", "numune veya hayvan numarası"],
  time: ["the time", "zaman"],
  code: ["the code of the test", "test kodu"],
  value: ["the value", "değer"],
});

const files = translations({
  csv: ["a table (CSV)", "Tablo (CSV)"],
  tsv: ["a table (TSV)", "Tablo (TSV)"],
  xlsx: ["a spreadsheet (XLSX)", "Hesap tablosu (XLSX)"],
  txt: ["a report in lines (TXT)", "Satırlı rapor (TXT)"],
  xml: ["XML", "XML"],
});

export function fileWord(kind: string): string {
  return files(kind as Parameters<typeof files>[0]);
}

export function roleWord(role: string): string {
  return roles(role as Parameters<typeof roles>[0]);
}

const reasons = translations({
  speciesWords: ["“{0}” is a species", "“{0}” bir tür"],
  ofDirectory: ["“{0}” is a known animal’s", "“{0}” kayıtlı bir hayvanın"],
  unreadText: ["nothing reads “{0}”", "“{0}” okunmuyor"],
  isTime: ["“{0}” is a time", "“{0}” bir zaman"],
  differs: ["it differs in each message, such as {0}", "her iletide farklı, örneğin {0}"],
  constant: ["“{0}” in every message", "her iletide “{0}”"],
  knownCodes: ["{0} of {1} are known codes", "{1} kodun {0} tanesi biliniyor"],
  knownUnits: ["“{0}” is a unit", "“{0}” bir birim"],
  ranges: ["“{0}” is an interval", "“{0}” bir aralık"],
  everyRow: ["it is {0} in every row", "her satırda {0}"],
  noNumber: ["{0} has no number and no unit", "{0} sayısız ve birimsiz"],
  oneMessage: ["one message proves nothing", "tek ileti kanıt değil"],
  counter: ["it counts up and is not matched", "artan bir sayaç, eşleştirilmez"],
});

/** A profile's name: its device, or what a general one reads. */
export function baseWord(profile: string, name: string): string {
  const general = GENERAL.find((each) => each === profile);
  if (profile.startsWith("new-file/")) return name;
  const word = general === undefined ? name : t(general);
  return word === profile ? profile : `${word} (${profile})`;
}

const GENERAL = ["generic-hl7", "generic-astm", "generic-astm-raw", "generic-poct1a", "practice-system"] as const;

export function reasonWords({ code, values }: ProposalReason): string {
  return reasons(code, Object.fromEntries(values.map((value, index) => [index, value])) as never);
}

const changes = translations({
  read: ["{count} become readable", "{count} ileti okunur oluyor"],
  unreadable: ["{count} are no longer read", "{count} ileti artık okunmuyor"],
  rowsMore: ["{count} gain rows", "{count} iletide satır artıyor"],
  rowsFewer: ["{count} lose rows", "{count} iletide satır azalıyor"],
  values: ["{count} change values or codes", "{count} iletide değer veya kod değişiyor"],
  identifier: ["{count} change the animal’s number", "{count} iletide hayvan numarası değişiyor"],
  name: ["{count} change the animal’s name", "{count} iletide hayvan adı değişiyor"],
  species: ["{count} gain a species", "{count} ileti tür kazanıyor"],
  speciesLost: ["{count} lose the species", "{count} ileti türünü yitiriyor"],
  time: ["{count} change the time", "{count} iletide zaman değişiyor"],
  other: ["{count} differ otherwise", "{count} ileti başka yönden farklı"],
});

export function changeWords(kind: ChangeKind, count: number): string {
  return changes(kind, { count });
}
