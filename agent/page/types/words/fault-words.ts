import type { Language } from "../../../../shared/api/language.ts";
import { type SentencePair, translator } from "../../../../shared/clinical/device-words/translator.ts";
import { type LineCode, lineText, OWN_HOLDER } from "../../../../shared/network/line-reasons.ts";
import { serverReasons } from "./doctor-words.ts";

// Why the agent refuses what a person did at its page, in Turkish. The agent writes it in English, as its log and its command line have
// it; names of files, profiles and keys stay as they are typed. A sentence that is not here is shown as it is.

const pairs: readonly SentencePair[] = [
  // The agent and its stores.
  [
    "the agent does not run: set it up, or try again in a moment",
    "aracı çalışmıyor: kurulumu yapın veya biraz sonra yeniden deneyin",
  ],
  ["there is no such data", "böyle bir veri yok"],
  ["there is no such destination", "böyle bir hedef yok: sayfayı yeniden yükleyin"],
  ["the request is not complete: load the page again", "istek eksik: sayfayı yeniden yükleyin"],
  ["the answer is not complete: load the page again", "yanıt eksik: sayfayı yeniden yükleyin"],
  [
    "{name} is no longer in the configuration: load the page again",
    "{name} artık yapılandırmada yok: sayfayı yeniden yükleyin",
  ],
  ["the agent has no such message: it removes old ones", "aracıda böyle bir ileti yok: eskileri siler"],
  [
    "the agent processes another message again: try it in a moment",
    "aracı şu anda başka bir iletiyi yeniden işliyor: biraz sonra deneyin",
  ],
  ["the message changed meanwhile: look at the difference again", "ileti bu arada değişti: farka yeniden bakın"],
  [
    "the stored messages changed meanwhile: look at the difference again",
    "saklanan iletiler bu arada değişti: farka yeniden bakın",
  ],
  ["the session of message {mark} is no longer kept", "bu iletinin oturumu artık saklanmıyor"],
  ["the file of image {mark} was removed at {text}", "bu görüntünün dosyası silindi ({text})"],
  [
    "message {mark} is from {name} with profile {text}, which the configuration no longer has",
    "bu iletinin cihazı {name}, profili {text}: yapılandırmada artık yok",
  ],
  [
    "message {mark} is an image, whose names cannot be replaced: --raw writes its file unchanged",
    "bu ileti bir görüntü ve içindeki adlar değiştirilemez",
  ],
  [
    "the agent has no file of this image: it removes old ones, so look in the archive",
    "aracıda bu görüntünün dosyası yok: eskileri siler, arşive bakın",
  ],
  [
    "the agent draws other pictures: try it again in a moment",
    "aracı başka görüntüler çiziyor: biraz sonra yeniden deneyin",
  ],
  // Profiles.
  ["{name} is code: use it as it is", "{name} bir program parçası: olduğu gibi kullanın"],
  ["{name} is not a profile: load the page again", "{name} bir profil değil: sayfayı yeniden yükleyin"],
  ["{name} is not a profile: choose one of the list", "{name} bir profil değil: listeden birini seçin"],
  ["the draft is not a profile yet: see its problems", "taslak henüz bir profil değil: sorunlarına bakın"],
  ["{name} is missing or was changed: load the page again", "{name} yok ya da değiştirilmiş: sayfayı yeniden yükleyin"],
  [
    "{name} has the newest revision of its profile: load the page again",
    "{name} profilinin en yeni revizyonunu kullanıyor: sayfayı yeniden yükleyin",
  ],
  ["the server does not take profiles: update it", "sunucu profil kabul etmiyor: sunucuyu güncelleyin"],
  // The set-up.
  [
    "the set-up went on meanwhile: look at the step that it shows now",
    "kurulum bu arada ilerledi: şimdi gösterdiği adıma bakın",
  ],
  [
    `the server's address is "{text}": copy the address that opens the dashboard, such as {mark}`,
    "sunucunun adresi “{text}”: panoyu açan adresi kopyalayın, örneğin {mark}",
  ],
  [
    `the server's address is "{text}", expected the address of the dashboard with http:// or https://, such as {mark}`,
    "sunucunun adresi “{text}”: panonun http:// veya https:// ile başlayan adresi bekleniyordu, örneğin {mark}",
  ],
  [
    "{reason}: save the key of the dashboard in that file, as one line",
    "{reason}: panodaki anahtarı o dosyaya tek satır olarak kaydedin",
  ],
  ["server.keyFile names {text}, which does not exist", "server.keyFile {text} dosyasını gösteriyor, bu dosya yok"],
  [
    `{code} is "{text}", expected an IANA time zone such as Europe/Istanbul`,
    "{code} “{text}”, Europe/Istanbul gibi bir saat dilimi bekleniyordu",
  ],
  [
    "{text} belongs to the device {name}: choose another one for a new device",
    "{text} {name} cihazının: yeni cihaz için başka birini seçin",
  ],
  [
    `the device's address is "{text}": type address and port, such as {mark}`,
    "cihazın adresi “{text}”: adresi ve bağlantı noktasını yazın, örneğin {mark}",
  ],
  [
    "{name} reads no files of this folder: choose one of the list",
    "{name} bu klasörün dosyalarını okumaz: listeden birini seçin",
  ],
  [
    "this looks like {name} ({code}), not {mark}: choose {text}, or insist on {text2}",
    "bu {mark} değil, {name} ({code}) gibi görünüyor: {text} seçin ya da {text2} için ısrar edin",
  ],
  ["agent.yaml is gone: start the set-up again", "agent.yaml artık yok: kuruluma yeniden başlayın"],
  [
    `the name is "{text}": use small letters, digits and dashes, such as chem-1`,
    "ad “{text}”: chem-1 gibi küçük harf, rakam ve tire kullanın",
  ],
  ["another device has the name {name}: choose a different one", "{name} adı başka bir cihazın: başka bir ad seçin"],
  [
    "no address may send: type the device's address, or its network such as {mark}",
    "gönderebilecek adres yok: cihazın adresini ya da {mark} gibi ağını yazın",
  ],
  ["the device {name} is gone: add it again", "{name} cihazı artık yok: yeniden ekleyin"],
  [
    "the device {name} is gone from agent.yaml: add it again",
    "{name} cihazı agent.yaml içinde artık yok: yeniden ekleyin",
  ],
  [
    "{count} bytes came that this profile does not read: choose another profile, or compare the device's settings",
    "bu profilin okumadığı {count} bayt geldi: başka bir profil seçin veya cihazın ayarlarını karşılaştırın",
  ],
  [
    "{count} bytes came that this profile does not read, they look like {mark}: choose another profile, or compare the device's settings",
    "bu profilin okumadığı, {mark} gibi görünen {count} bayt geldi: başka bir profil seçin veya cihazın ayarlarını karşılaştırın",
  ],
  [
    "the agent does not start with it, so nothing changed: {reason}",
    "aracı bununla başlamıyor, bu yüzden hiçbir şey değişmedi: {reason}",
  ],
  ["the file changed meanwhile: load it and edit it again", "dosya bu arada değişti: yükleyip yeniden düzenleyin"],
  // The pairing with the server.
  [
    "the code is not complete: expected {count} letters and digits such as {mark}, as the dashboard shows under Devices, Add a clinic PC",
    "kod eksik: panoda Cihazlar, Klinik bilgisayarı ekle altında görünen, {mark} gibi {count} harf ve rakam bekleniyordu",
  ],
  [
    "This code is wrong. Compare it with the one at the dashboard under Devices; a newer code ends the older one.",
    "Bu kod yanlış. Panoda Cihazlar altındaki kodla karşılaştırın; yeni kod eskisini geçersiz kılar.",
  ],
  [
    "This code has ended. Make a new one at the dashboard under Devices, Add a clinic PC.",
    "Bu kodun süresi bitti. Panoda Cihazlar, Klinik bilgisayarı ekle altında yenisini oluşturun.",
  ],
  [
    "Too many codes were tried. Wait 15 minutes, then use a new code.",
    "Çok fazla kod denendi. 15 dakika bekleyin, sonra yeni bir kod kullanın.",
  ],
  [
    "{reason}: check the address and the network, and that the server runs, then try again with the same code",
    "{reason}: adresi, ağı ve sunucunun çalıştığını denetleyin, sonra aynı kodla yeniden deneyin",
  ],
  [
    "another program than a Vetwire server answered at {mark}: use the address that opens the dashboard in a browser",
    "{mark} adresinde Vetwire sunucusundan başka bir program yanıt verdi: tarayıcıda panoyu açan adresi kullanın",
  ],
  [
    "the server has nothing for agents at {mark}: {text}",
    "sunucunun {mark} adresinde aracılar için bir şey yok: adresi, panoyu açan adresin makine ve bağlantı noktasıyla " +
      "karşılaştırın; doğruysa sunucu kodlar için çok eski: güncelleyin ya da panoda Ayarlar altında bir API anahtarı oluşturun",
  ],
  [
    "the server's certificate is not valid at this PC's time, {mark}: set the clock of this PC, or renew the certificate",
    "sunucunun sertifikası bu bilgisayarın saatinde ({mark}) geçerli değil: saati ayarlayın ya da sertifikayı yenileyin",
  ],
  [
    "the server's certificate is for another name: use the name in the address that opens the dashboard",
    "sunucunun sertifikası başka bir ad için: panoyu açan adresteki adı kullanın",
  ],
  [
    "this PC does not know the authority of the server's certificate: name its file in the environment variable NODE_EXTRA_CA_CERTS, or as ca in agent.yaml",
    "bu bilgisayar sunucu sertifikasını vereni tanımıyor: dosyasını NODE_EXTRA_CA_CERTS ortam değişkeninde ya da agent.yaml içinde ca olarak belirtin",
  ],
  [
    "the key cannot be written to {mark}: {text}: choose a file in a folder that this user may write to, on a disk with free space",
    "anahtar {mark} dosyasına yazılamıyor: bu kullanıcının yazabildiği, boş yeri olan bir diskteki klasörü seçin",
  ],
];

/** Faults of the line to a new device, of which the set-up has the sentences. Those of an unknown error have its own words. */
const LINE_CODES = [
  ...["PORT.MISSING", "PORT.FORBIDDEN", "PORT.NOT_SERIAL", "FOLDER.MISSING", "FOLDER.NOT_ONE", "FOLDER.FORBIDDEN"],
  ...["LISTEN.NOT_OWN", "LISTEN.FORBIDDEN", "LISTEN.RESERVED", "LISTEN.UNKNOWN_HOST"],
  ...["DIAL.NO_ROUTE", "DIAL.REFUSED", "DIAL.TIMED_OUT", "DIAL.UNKNOWN_HOST", "TLS.NOT_SPOKEN", "TLS.UNTRUSTED"],
] as const satisfies readonly LineCode[];
const HOLDER_CODES = ["PORT.IN_USE", "LISTEN.IN_USE"] as const satisfies readonly LineCode[];

function linePair(code: LineCode, ...values: string[]): SentencePair {
  return [lineText({ code, values }, "en") ?? "", lineText({ code, values }, "tr") ?? ""];
}

const lines: readonly SentencePair[] = [
  ["cannot open: {reason}", "açılamıyor: {reason}"],
  ["cannot listen: {reason}", "dinlenemiyor: {reason}"],
  ["cannot connect: {reason}", "bağlanılamıyor: {reason}"],
  ...LINE_CODES.map((code) => linePair(code, "{mark}", "{text}")),
  ...HOLDER_CODES.flatMap((code) => [
    linePair(code, "{mark}", OWN_HOLDER),
    linePair(code, "{mark}"),
    linePair(code, "{mark}", "{text}"),
  ]),
];

const translate = translator([...pairs, ...lines, ...serverReasons]);

/** Returns why the agent refuses a request, in the language; null if it has no words in it. */
export function faultText(sentence: string, language: Language): string | null {
  return language === "en" ? null : translate(sentence, language);
}
