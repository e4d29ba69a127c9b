import type { Language } from "../../../../shared/api/language.ts";
import { type SentencePair, translator } from "../../../../shared/clinical/device-words/translator.ts";

// Why the server is away, in Turkish. The agent writes the reasons in English for its log and the command line; here they lose the
// words of other programs, and keep their codes.

const pairs: readonly SentencePair[] = [
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
  // Of an error without words of ours.
  ["{text} ({code})", "{code}"],
];

const translate = translator(pairs);

/** Returns why the server is away in the language; null if it has no words in it. */
export function serverReason(reason: string, language: Language): string | null {
  return language === "en" ? reason : translate(reason, language);
}
