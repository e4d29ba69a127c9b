import type { Language } from "../../../../shared/api/language.ts";
import { type SentencePair, translator } from "../../../../shared/clinical/device-words/translator.ts";
import { OUTCOME_WORDS } from "../../../../shared/network/hl7-sender/outcome-words.ts";
import { protocolWords } from "./reading-words.ts";

// The doctor's sentences in Turkish. It writes them in English, because the command line and the file for the support have them so;
// commands and keys of agent.yaml stay as they are typed. A sentence that is not here is shown as it is.

const pairs: readonly SentencePair[] = [
  // Titles of the checks.
  ["Configuration", "Yapılandırma"],
  ["Data folder", "Veri klasörü"],
  ["Free space", "Boş alan"],
  ["Stored results", "Kayıtlı sonuçlar"],
  ["Open files", "Açık dosyalar"],
  ["Network ports of this machine", "Bu makinenin ağ bağlantı noktaları"],
  ["Serial ports", "Seri bağlantı noktaları"],
  ["Way out of the network", "Ağdan çıkış yolu"],
  ["Devices that the agent dials", "Aracının aradığı cihazlar"],
  ["Buckets of images", "Görüntü depoları"],
  ["Server, key and clock", "Sunucu, anahtar ve saat"],
  ["Time zone", "Saat dilimi"],
  ["Service", "Hizmet"],
  ["Devices", "Cihazlar"],
  ["Waiting results", "Bekleyen sonuçlar"],
  ["Backup", "Yedek"],
  // Devices.
  ["{name} sends, and its profile fits", "{name} gönderiyor ve profili uyuyor"],
  ["the running agent does not know {name}", "çalışan aracı {name} cihazını tanımıyor"],
  [
    "restart the agent, so that it reads agent.yaml again",
    "aracıyı yeniden başlatın, agent.yaml dosyasını yeniden okusun",
  ],
  [
    "{name} refused {mark} {count} times, which allow lacks",
    "{name}, allow listesinde olmayan {mark} adresini {count} kez reddetti",
  ],
  [
    "if that is the device, add {mark} to allow of {name} in agent.yaml",
    "bu cihazsa agent.yaml içinde {name} cihazının allow listesine {mark} ekleyin",
  ],
  [
    "{name} received {count} bytes that belong to no message: they look like {reason}, not like {mark}",
    "{name} hiçbir iletiye ait olmayan {count} bayt aldı: {reason} gibi görünüyorlar, {mark} gibi değil",
  ],
  [
    "{name} received {count} bytes that belong to no message: {text}",
    "{name} hiçbir iletiye ait olmayan {count} bayt aldı: {text}",
  ],
  ["{name} received {count} bytes that belong to no message", "{name} hiçbir iletiye ait olmayan {count} bayt aldı"],
  [
    "compare baud rate, parity and profile with the device's settings, or run agent sniff while it sends",
    "baud hızını, pariteyi ve profili cihazın ayarlarıyla karşılaştırın veya cihaz gönderirken agent sniff çalıştırın",
  ],
  ["write profile: {text} for {name} in agent.yaml", "agent.yaml içinde {name} için profile: {text} yazın"],
  [
    "{count} of the last {max} messages of {name} are unreadable with the profile {mark}",
    "{name} cihazının son {max} iletisinden {count} tanesi {mark} profiliyle okunamıyor",
  ],
  [
    "{count} of the last {max} results of {name} have codes that the catalogue lacks",
    "{name} cihazının son {max} sonucundan {count} tanesinin kodu katalogda yok",
  ],
  [
    "map the codes in the dashboard under To place, Unknown codes: agent codes lists them",
    "kodları panoda, Yerleştirilecek altındaki Bilinmeyen kodlar ekranında eşleyin: agent codes onları listeler",
  ],
  [
    "compare the profile {mark} with the model, or map the codes in the dashboard under To place, Unknown codes: agent codes lists them",
    "{mark} profilini cihazın modeliyle karşılaştırın veya kodları panoda, Yerleştirilecek altındaki Bilinmeyen kodlar ekranında eşleyin",
  ],
  ["{name} is another model than its profile {mark} reads", "{name}, {mark} profilinin okuduğundan başka bir model"],
  ["{name} looks like {mark}, and has the profile {text}", "{name}, {mark} gibi görünüyor, profili ise {text}"],
  ["{name} has sent nothing for {count} days", "{name} {count} gündür bir şey göndermedi"],
  [
    "if the device is in use, look whether its sending to the computer (LIS, HIS, host) is on",
    "cihaz kullanılıyorsa bilgisayara (LIS, HIS, host) göndermesinin açık olduğuna bakın",
  ],
  ["no message of {name} has ever arrived", "{name} cihazından hiç ileti gelmedi"],
  [
    "press send on the device, and look whether it waits for a host at {mark}",
    "cihazda “gönder” düğmesine basın ve {mark} adresinde bir bilgisayar beklediğine bakın",
  ],
  [
    "press send on the device; if nothing comes, compare its cable (null modem?) and baud rate, or run agent sniff --connection {mark}",
    "cihazda “gönder” düğmesine basın; bir şey gelmezse kabloyu (null modem?) ve baud hızını karşılaştırın veya agent sniff --connection {mark} çalıştırın",
  ],
  [
    "{name} listens on {mark} alone, which no other machine reaches: write listen: {text} with allow",
    "{name} yalnızca {mark} adresini dinliyor ve başka hiçbir makine oraya ulaşamaz: allow ile birlikte listen: {text} yazın",
  ],
  [
    "set this machine's address and port {count} at the device, press send, and let the firewall of this machine accept port {max}",
    "cihazda bu makinenin adresini ve {count} bağlantı noktasını ayarlayın, “gönder” düğmesine basın ve güvenlik duvarının {max} bağlantı noktasını kabul etmesini sağlayın",
  ],
  [
    "let the practice software export a list as CSV or xlsx into {text}",
    "klinik yazılımı {text} klasörüne CSV veya xlsx listesi aktarsın",
  ],
  ["no device is set up, so no result can arrive", "hiçbir cihaz kurulu değil, bu yüzden sonuç gelemez"],
  ["connect the first one on the agent's page: Add a device", "ilkini aracının sayfasında bağlayın: Cihaz ekle"],
  // The lines of devices, in the words of their codes.
  ["{name} cannot connect: refused by {mark}", "{name} bağlanamıyor: {mark} reddetti"],
  ["{name} cannot connect: {text}", "{name} bağlanamıyor: {text}"],
  [
    "switch the device on, and compare its port with {mark}",
    "cihazı açın ve bağlantı noktasını {mark} ile karşılaştırın",
  ],
  ["switch the device on, and compare its address with {mark}", "cihazı açın ve adresini {mark} ile karşılaştırın"],
  ["{name} takes connections at {mark}", "{name}, {mark} adresinde bağlantı kabul ediyor"],
  ["no device has to be dialled now", "şu anda aranacak cihaz yok"],
  ["no device has a serial port", "hiçbir cihazın seri bağlantı noktası yok"],
  ["{name} can open {mark}", "{name}, {mark} bağlantı noktasını açabiliyor"],
  ["{name} can listen on {mark}", "{name}, {mark} adresini dinleyebiliyor"],
  ["no device connects to this machine", "hiçbir cihaz bu makineye bağlanmıyor"],
  [
    "the ports are the running agent's: see Devices for their faults",
    "bağlantı noktaları çalışan aracının: arızaları için Cihazlar bölümüne bakın",
  ],
  [
    "{mark} is the running agent's: see Devices for its faults",
    "{mark} çalışan aracının: arızaları için Cihazlar bölümüne bakın",
  ],
  // The server.
  ["{mark} is a Vetwire server and takes the key", "{mark} bir Vetwire sunucusu ve anahtarı kabul ediyor"],
  ["the server has the certificate of the pairing", "sunucunun sertifikası eşleştirmedeki sertifika"],
  ["TLS is right", "TLS doğru"],
  ["requests to {name}, {mark}, go there directly", "{name} ({mark}) istekleri doğrudan gidiyor"],
  [
    "requests to {name}, {mark}, go through the proxy {text}",
    "{name} ({mark}) istekleri {text} vekil sunucusundan geçiyor",
  ],
  ["no program listens at {mark}", "{mark} adresinde dinleyen program yok"],
  [
    "start the server there, or correct the port {count} in server.url",
    "sunucuyu orada başlatın veya server.url içindeki {count} bağlantı noktasını düzeltin",
  ],
  ["{mark} does not answer", "{mark} yanıt vermiyor"],
  [
    "look whether the server is on, and let its firewall accept port {count}",
    "sunucunun açık olduğuna bakın ve güvenlik duvarı {count} bağlantı noktasını kabul etsin",
  ],
  ["no machine has the name {mark}", "{mark} adında bir makine yok"],
  [
    "compare server.url in agent.yaml with the address of the dashboard",
    "agent.yaml içindeki server.url değerini panonun adresiyle karşılaştırın",
  ],
  [
    "plug the network cable in or join the Wi-Fi, and compare the address in server.url",
    "ağ kablosunu takın veya Wi-Fi’ye bağlanın ve server.url içindeki adresi karşılaştırın",
  ],
  [
    "the server does not accept the key: it is unknown, revoked or has ended",
    "sunucu anahtarı kabul etmiyor: bilinmiyor, geri alınmış veya süresi bitmiş",
  ],
  ["the key lacks the permission {text}", "anahtarın {text} izni eksik"],
  ["the key lacks a permission", "anahtarın bir izni eksik"],
  ["the clock agrees with the server's", "saat sunucununkiyle aynı"],
  ["the server told no time", "sunucu saatini bildirmedi"],
  // Results that wait.
  ["nothing waits", "bekleyen yok"],
  ["1 study waits for the server, the oldest for {text}", "1 tetkik sunucuyu bekliyor, en eskisi: {text}"],
  ["{count} studies wait for the server, the oldest for {text}", "{count} tetkik sunucuyu bekliyor, en eskisi: {text}"],
  [
    "solve the problems of server and key above, and let the agent run: it sends them by itself",
    "yukarıdaki sunucu ve anahtar sorunlarını çözün ve aracıyı çalışır bırakın: kendisi gönderir",
  ],
  [
    "1 record of controls and devices not sent yet: the server may be of an older version",
    "1 kontrol veya cihaz kaydı henüz gönderilmedi: sunucu eski bir sürüm olabilir",
  ],
  [
    "{count} records of controls and devices not sent yet: the server may be of an older version",
    "{count} kontrol ve cihaz kaydı henüz gönderilmedi: sunucu eski bir sürüm olabilir",
  ],
  ["1 message cannot be read", "1 ileti okunamıyor"],
  ["{count} messages cannot be read", "{count} ileti okunamıyor"],
  [
    "read why with agent messages --state quarantined, correct it, then agent reprocess --state quarantined",
    "nedenini agent messages --state quarantined ile okuyun, düzeltin, sonra agent reprocess --state quarantined çalıştırın",
  ],
  ["1 message without a certain patient", "1 iletinin hastası kesin değil"],
  ["{count} messages without a certain patient", "{count} iletinin hastası kesin değil"],
  ["place them in the dashboard under To place", "onları panoda, Yerleştirilecek ekranında yerleştirin"],
  ["{name} refused 1 result", "{name} 1 sonucu reddetti"],
  ["{name} refused {count} results", "{name} {count} sonucu reddetti"],
  [
    "read why on the agent's page under To send, correct it at the receiver, then send them again there",
    "nedenini aracının sayfasında, Gönderilecek ekranında okuyun, alıcıda düzeltin, sonra orada yeniden gönderin",
  ],
  [
    "look at {name} on the agent's page under To send",
    "aracının sayfasında, Gönderilecek ekranında {name} hedefine bakın",
  ],
  // This machine.
  [
    "{name} is {mark}, and this machine's zone is {text}: times of results may be hours off",
    "{name} {mark}, bu makinenin saat dilimi ise {text}: sonuçların saati saatlerce yanlış olabilir",
  ],
  ["{name} is {mark}, the clock of this machine", "{name} {mark}, bu makinenin saati"],
  [
    "if the devices show the time of {mark}, write timeZone: {text} in agent.yaml; otherwise set this machine's zone",
    "cihazlar {mark} saatini gösteriyorsa agent.yaml içine timeZone: {text} yazın; göstermiyorsa bu makinenin saat dilimini ayarlayın",
  ],
  ["{text} is writable, and no other user reads it", "{text} yazılabilir ve başka kullanıcı okuyamaz"],
  ["{text} is writable", "{text} yazılabilir"],
  [
    "other users of this machine can read {text}, which holds results",
    "bu makinenin başka kullanıcıları, sonuçların durduğu {text} klasörünü okuyabiliyor",
  ],
  ["only {count} MB are free for {text}", "{text} için yalnızca {count} MB boş"],
  ["{count} MB are free for {text}", "{text} için {count} MB boş"],
  [
    "delete or move files of other programs, or name a folder on a larger disk as data in agent.yaml",
    "başka programların dosyalarını silin veya taşıyın ya da agent.yaml içinde data için daha büyük bir diskte bir klasör yazın",
  ],
  ["there is room for images", "görüntüler için yer var"],
  ["no device sends images", "hiçbir cihaz görüntü göndermiyor"],
  ["the stored results are whole", "kayıtlı sonuçlar sağlam"],
  [
    "the stored results are whole as far as they were checked in 10 s",
    "kayıtlı sonuçlar, 10 saniyede denetlendiği kadarıyla sağlam",
  ],
  ["run the doctor again at night, when no device sends", "denetimi gece, cihazlar göndermezken yeniden çalıştırın"],
  ["nothing is stored yet", "henüz kayıt yok"],
  [
    "the limit of open files leaves each device its connections",
    "açık dosya sınırı her cihazın bağlantılarına yetiyor",
  ],
  [
    "no service is installed: after a restart of this machine nobody starts the agent",
    "hizmet kurulu değil: bu makine yeniden başlayınca aracıyı kimse başlatmaz",
  ],
  ["agent.yaml has no backup", "agent.yaml içinde yedek yok"],
  ["the first backup follows while the agent runs", "ilk yedek aracı çalışırken alınacak"],
  ["the last backup is of {mark}", "son yedek {mark} tarihli"],
  [
    "let the agent run through the day, or run agent backup FILE now",
    "aracıyı gün boyu çalışır bırakın veya şimdi agent backup FILE çalıştırın",
  ],
  // The configuration.
  ["the agent is running", "aracı çalışıyor"],
  ["{text} is valid: 1 device", "{text} geçerli: 1 cihaz"],
  ["{text} is valid: {count} devices", "{text} geçerli: {count} cihaz"],
  ["not checked, because the configuration has problems", "denetlenmedi, çünkü yapılandırmada sorunlar var"],
  ["not asked, because of --offline", "--offline nedeniyle sorulmadı"],
];

/** The answers of destinations of results, with the receiver's words or without. */
const outcomes = OUTCOME_WORDS.flatMap(([[english, remedy], [turkish, turkishRemedy]]): SentencePair[] => [
  [`{name} did not take the last result: ${english}, "{text}"`, `{name} son sonucu almadı: ${turkish}, "{text}"`],
  [`{name} did not take the last result: ${english}`, `{name} son sonucu almadı: ${turkish}`],
  ...(remedy === null || turkishRemedy === null ? [] : [[remedy, turkishRemedy] satisfies SentencePair]),
]);

const translate = translator([...pairs, ...outcomes, ...protocolWords]);

/** Returns a sentence of the doctor in the language; null if it has no words in it. */
export function doctorText(sentence: string, language: Language): string | null {
  return language === "en" ? sentence : translate(sentence, language);
}

// Why the server is away. The reasons lose the words of other programs here, and keep their codes.

export const serverReasons: readonly SentencePair[] = [
  ["the server cannot be reached: {reason}", "sunucuya ulaşılamıyor: {reason}"],
  ["no response in time", "süresinde yanıt gelmedi"],
  ["nothing listens there ({code})", "orada dinleyen yok ({code})"],
  ["no machine has that name ({code})", "bu adda bir makine yok ({code})"],
  ["the name cannot be looked up now ({code})", "ad şu anda sorgulanamıyor ({code})"],
  ["there is no way there ({code})", "oraya yol yok ({code})"],
  ["the connection broke off ({code})", "bağlantı koptu ({code})"],
  ["no answer ({code})", "yanıt yok ({code})"],
  ["no TLS is spoken there ({code})", "orada TLS kullanılmıyor ({code})"],
  ["no HTTP is spoken there ({code})", "orada HTTP kullanılmıyor ({code})"],
  [
    "the server answered {status}: no error envelope, so another program responded",
    "{status} yanıtı geldi, ama sunucumuzdan değil: orada başka bir program yanıt veriyor",
  ],
  ["the server answered {status}: {code} {text}", "sunucu {status} yanıtını verdi ({code})"],
  ["the server speaks TLS: is the url https://?", "sunucu TLS kullanıyor: adres https:// ile mi başlamalı?"],
  ["the server at {host} speaks TLS: is the url https://?", "{host} TLS kullanıyor: adres https:// ile mi başlamalı?"],
  [
    "the server at {host} does not speak TLS: is the url http://?",
    "{host} TLS kullanmıyor: adres http:// ile mi başlamalı?",
  ],
  ["the key file cannot be read: {text}", "anahtar dosyası okunamıyor"],
  ["invalid response: {text}", "sunucunun yanıtı geçersiz"],
  ["invalid JSON in the response: {text}", "sunucunun yanıtı geçersiz"],
  ["response too long: {text}", "sunucunun yanıtı çok uzun"],
  ["the server knows no destinations: upgrade it", "sunucu hedefleri henüz tanımıyor: sunucuyu güncelleyin"],
  [
    "another certificate than that of the paired server came from {host}: {text}",
    "{host} eşleştirilen sunucununkinden başka bir sertifika gönderdi: sunucu yeniden kurulduysa bu bilgisayarı panodaki bir kodla " +
      "yeniden eşleştirin, kurulmadıysa yerine başka bir makine yanıt veriyor",
  ],
];

/** The last pair is for an error that has no words here. */
const translateReason = translator([...serverReasons, ["{text} ({code})", "{code}"]]);

/** Returns why the server is away in the language; null if it has no words in it. */
export function serverReason(reason: string, language: Language): string | null {
  return language === "en" ? reason : translateReason(reason, language);
}
