import type { Language } from "../../../shared/api/language.ts";
import { type ReasonOf, reasonOf } from "../../../shared/api/reason.ts";

// The outcome of an attempt to send to a webhook, or why its address is refused: a code with values, and its words.

type Words = (...values: readonly string[]) => string;

const english = {
  "HOOK.TAKEN": (status) => `The receiver responded ${status}.`,
  "HOOK.URL_LONG": (length, most) => `The URL has ${length} characters: enter one of at most ${most}.`,
  "HOOK.URL_FORM": () => "This is not a URL: enter one such as https://example.com/vetwire.",
  "HOOK.URL_USER": () => "The URL holds a user name or a password: remove it, because the signature proves the sender.",
  "HOOK.URL_HASH": () => "The URL holds a part after #, which is never sent: remove it.",
  "HOOK.URL_SCHEME": (scheme) => `The URL starts with ${scheme}//: enter one that starts with https://.`,
  "HOOK.URL_PORT": (port) => `The URL has the port ${port}: use 443, or one from 1024 on.`,
  "HOOK.NO_ADDRESS": (host) => `${host} has no address: check the name.`,
  "HOOK.CLOSED": (host) => `${host} has an address which cannot be a receiver: enter another host.`,
  "HOOK.PRIVATE": (host) =>
    `${host} is in a private network: enter a public host, or start the program with --allow-private-webhooks.`,
  "HOOK.PUBLIC_PLAIN": (host, address) =>
    `${host} is at the public address ${address}: enter a URL that starts with https://.`,
  "HOOK.SILENT": (seconds) =>
    `No response came within ${seconds} s: let the receiver respond first and work afterwards.`,
  "HOOK.REDIRECT": (status) =>
    `The receiver redirects (${status}), which is not followed: enter the URL that it redirects to.`,
  "HOOK.GONE": () => "The receiver responded 410, it takes no more messages: enter its new URL, or delete the webhook.",
  "HOOK.STATUS": (status) => `The receiver responded ${status}, expected 2xx: look into its log.`,
  "HOOK.NO_WAY": () => "There is no way to the receiver: check the network.",
  "HOOK.NOBODY_LISTENS": () => "Nothing listens at the receiver's address: start the receiver, or check the port.",
  "HOOK.BROKEN": () => "The receiver closed the connection without a response: look into its log.",
  "HOOK.UNKNOWN_HOST": () => "The receiver's name is unknown: check the URL, and this machine's DNS.",
  "HOOK.NO_LOOK_UP": () => "The receiver's name could not be looked up: check this machine's DNS.",
  "HOOK.NO_ANSWER": () => "The receiver's machine does not respond: check that it runs, and its firewall.",
  "HOOK.CERTIFICATE_ENDED": () => "The receiver's certificate has expired: renew it.",
  "HOOK.CERTIFICATE_NAME": () => "The receiver's certificate is for another name: enter the name of the certificate.",
  "HOOK.SELF_SIGNED": () =>
    "The receiver's certificate is self-signed: use one of a known authority, or set NODE_EXTRA_CA_CERTS.",
  "HOOK.AUTHORITY": () => "The authority of the receiver's certificate is unknown: set NODE_EXTRA_CA_CERTS.",
  "HOOK.CHAIN": () => "The receiver's certificate lacks its chain: send the complete chain.",
  "HOOK.NO_TLS": () => "The receiver has no TLS at this port: check the port.",
  /** The sentence of the proxy's fault. */
  "HOOK.PROXY": (fault) => `${fault}.`,
  "HOOK.PROXY_LOOK_UP": (proxy) =>
    `This machine cannot look up the receiver's name, and leaves that to no proxy (${proxy}): let it look up public names, or start the program with --allow-private-webhooks.`,
  /** The text that the parser met, and its code. */
  "HOOK.NO_HTTP": (fault) => `The receiver did not respond with HTTP: ${fault}. Check the URL.`,
} as const satisfies Record<string, Words>;

export type WebhookCode = keyof typeof english;

export type WebhookReason = ReasonOf<WebhookCode>;

const turkish: Record<WebhookCode, Words> = {
  "HOOK.TAKEN": (status) => `Alıcı ${status} yanıtını verdi.`,
  "HOOK.URL_LONG": (length, most) => `Adres ${length} karakter: en çok ${most} karakterlik bir adres girin.`,
  "HOOK.URL_FORM": () => "Bu bir adres değil: https://example.com/vetwire gibi bir adres girin.",
  "HOOK.URL_USER": () => "Adreste kullanıcı adı veya parola var: silin, göndereni imza kanıtlar.",
  "HOOK.URL_HASH": () => "Adreste # işaretinden sonra gelen bölüm hiç gönderilmez: silin.",
  "HOOK.URL_SCHEME": (scheme) => `Adres ${scheme}// ile başlıyor: https:// ile başlayan bir adres girin.`,
  "HOOK.URL_PORT": (port) => `Adresteki port ${port}: 443 veya en az 1024 olan bir port kullanın.`,
  "HOOK.NO_ADDRESS": (host) => `${host} için adres bulunamadı: adı kontrol edin.`,
  "HOOK.CLOSED": (host) => `${host} alıcı olamayacak bir adreste: başka bir sunucu girin.`,
  "HOOK.PRIVATE": (host) =>
    `${host} özel bir ağda: herkese açık bir adres girin ya da programı --allow-private-webhooks ile başlatın.`,
  "HOOK.PUBLIC_PLAIN": (host, address) =>
    `${host} herkese açık ${address} adresinde: https:// ile başlayan bir adres girin.`,
  "HOOK.SILENT": (seconds) => `${seconds} saniye içinde yanıt gelmedi: alıcı önce yanıt versin, işini sonra yapsın.`,
  "HOOK.REDIRECT": (status) =>
    `Alıcı başka bir adrese yönlendiriyor (${status}), yönlendirme izlenmez: yönlendirdiği adresi girin.`,
  "HOOK.GONE": () => "Alıcı 410 yanıtını verdi, artık mesaj almıyor: yeni adresini girin veya webhook'u silin.",
  "HOOK.STATUS": (status) => `Alıcı ${status} yanıtını verdi, 2xx bekleniyordu: alıcının günlüğüne bakın.`,
  "HOOK.NO_WAY": () => "Alıcıya giden yol yok: ağı kontrol edin.",
  "HOOK.NOBODY_LISTENS": () => "Alıcının adresinde çalışan program yok: alıcıyı başlatın veya portu kontrol edin.",
  "HOOK.BROKEN": () => "Alıcı yanıt vermeden bağlantıyı kapattı: alıcının günlüğüne bakın.",
  "HOOK.UNKNOWN_HOST": () => "Alıcının adı bilinmiyor: adresi ve bu makinenin DNS ayarını kontrol edin.",
  "HOOK.NO_LOOK_UP": () => "Alıcının adı çözümlenemedi: bu makinenin DNS ayarını kontrol edin.",
  "HOOK.NO_ANSWER": () => "Alıcının makinesi yanıt vermiyor: çalıştığını ve güvenlik duvarını kontrol edin.",
  "HOOK.CERTIFICATE_ENDED": () => "Alıcının sertifikasının süresi dolmuş: yenileyin.",
  "HOOK.CERTIFICATE_NAME": () => "Alıcının sertifikası başka bir ad için: sertifikadaki adı girin.",
  "HOOK.SELF_SIGNED": () =>
    "Alıcının sertifikasını kendisi imzalamış: bilinen bir kurumun sertifikasını kullanın veya NODE_EXTRA_CA_CERTS değişkenini ayarlayın.",
  "HOOK.AUTHORITY": () => "Alıcının sertifikasını veren kurum bilinmiyor: NODE_EXTRA_CA_CERTS değişkenini ayarlayın.",
  "HOOK.CHAIN": () => "Alıcının sertifika zinciri eksik: zincirin tamamını gönderin.",
  "HOOK.NO_TLS": () => "Alıcı bu portta TLS kullanmıyor: portu kontrol edin.",
  "HOOK.PROXY": (_fault, proxy = "") =>
    `Mesaj proxy'den${proxy === "" ? "" : ` (${proxy})`} geçemedi: proxy'nin çalıştığını, adresini, kullanıcı adını ve parolasını kontrol edin.`,
  "HOOK.PROXY_LOOK_UP": (proxy) =>
    `Bu makine alıcının adını çözümleyemiyor ve bunu bir proxy'ye (${proxy}) bırakmıyor: makine herkese açık adları çözümleyebilsin ya da programı --allow-private-webhooks ile başlatın.`,
  "HOOK.NO_HTTP": (_fault, code = "") =>
    `Alıcı HTTP ile yanıt vermedi${code === "" ? "" : ` (${code})`}: adresi kontrol edin.`,
};

export function webhookReason(code: WebhookCode, ...values: readonly (string | number)[]): WebhookReason {
  return reasonOf(code, ...values.map(String));
}

export function isWebhookCode(code: string): code is WebhookCode {
  return Object.hasOwn(english, code);
}

export function webhookText({ code, values }: WebhookReason, language: Language = "en"): string {
  const tables: Record<Language, Record<WebhookCode, Words>> = { en: english, tr: turkish };
  return tables[language][code](...values);
}

/** Why an attempt failed, as its row keeps it. Older rows keep a sentence. @returns its words in English, and the reason itself */
export function readWebhookReason(stored: string | null): { reason: string | null; why: WebhookReason | null } {
  if (stored?.startsWith("{") !== true) return { reason: stored, why: null };
  const why = JSON.parse(stored) as WebhookReason;
  return { reason: webhookText(why), why };
}
