import type { Language } from "../../../../shared/api/language.ts";
import { type ReasonOf, reasonOf } from "../../../../shared/api/reason.ts";

// Settings, E-mail: the mail server through which this server sends. It belongs to the server and not to a clinic.

/** `starttls`: the connection is encrypted after the greeting; `tls`: from the first byte. */
export const MAIL_ENCRYPTIONS = ["starttls", "tls"] as const;

export interface MailSetting {
  host: string;
  port: number;
  encryption: (typeof MAIL_ENCRYPTIONS)[number];
  /** Null if the mail server needs no name. */
  user: string | null;
  /** The sender of all e-mails. */
  from: string;
}

/** The response to `GET mail-server`. No response has the password. */
export interface MailServerState {
  /** Options of the command line or of the service's file, which win over this page. */
  fixed_by: string[];
  /** False for a user who is not an admin of each clinic of the server. */
  may_change: boolean;
  /** Null without a mail server. */
  setting: MailSetting | null;
  has_password: boolean;
}

/** The body of `PUT mail-server`. */
export interface MailServerBody extends MailSetting {
  /** Null keeps the stored one. */
  password: string | null;
  /** The setting that the user saw: no other one is replaced. */
  seen: MailSetting | null;
}

type Words = (...values: readonly string[]) => string;

// The first value is the place of the mail server, the second what it replied, the third the code of the connection. A place or a
// reply is the same in all languages.

const inBrackets = (text: string) => (text === "" ? "" : ` (${text})`);
const said = (reply = "", code = "") => inBrackets(reply === "" ? code : `it replied "${reply}"`);
/** A code of several words is an English sentence of the library. */
const yanit = (reply = "", code = "") =>
  inBrackets(reply === "" ? (/^[A-Z_]+$/.exec(code)?.[0] ?? "") : `yanıtı: "${reply}"`);

const english = {
  /** Host, recipient and reply. */
  "MAIL.TAKEN": (host, to, reply) => `${host} took the e-mail to ${to}: ${reply}`,
  "MAIL.NOT_SET": () =>
    "This server sends no e-mail yet: an admin sets a mail server under Settings, E-mail, or whoever runs it starts it with --smtp, --smtp-from and --smtp-password-file.",
  "MAIL.NO_ROUTE": (place, ...more) =>
    `There is no way to the mail server ${place}: check the network of this machine${said(...more)}`,
  "MAIL.NOBODY_LISTENS": (place, ...more) =>
    `No mail server listens at ${place}: check the host and the port${said(...more)}`,
  "MAIL.UNKNOWN_HOST": (place, ...more) =>
    `The name of the mail server ${place} is unknown: check the host, and this machine's DNS${said(...more)}`,
  "MAIL.SILENT": (place, ...more) =>
    `The mail server ${place} does not respond: check the port and the firewall${said(...more)}`,
  "MAIL.SIGN_IN": (place, ...more) =>
    `The mail server ${place} refuses the name or the password: check both, many providers want an app password${said(...more)}`,
  "MAIL.NOT_ENCRYPTED": (place, ...more) =>
    `The connection to ${place} cannot be encrypted: use smtps://, or a mail server with STARTTLS${said(...more)}`,
  "MAIL.SENDER": (place, ...more) =>
    `The mail server ${place} refuses the sender: set an address that this account may use${said(...more)}`,
  "MAIL.RECIPIENT": (place, ...more) =>
    `The mail server ${place} refuses the recipient: check the address${said(...more)}`,
  "MAIL.PASSWORD_FILE": (_place, ...more) =>
    `The file of the mail password cannot be read: put the password there, readable for this program${said(...more)}`,
  "MAIL.PASSWORD": () =>
    "The stored password of the mail server cannot be read with this server's secret: enter it again under Settings, E-mail",
  "MAIL.NOT_TAKEN": (place, ...more) =>
    `The mail server ${place} did not take the e-mail: check the host, the port and its log${said(...more)}`,
} as const satisfies Record<string, Words>;

export type MailCode = keyof typeof english;

/** The outcome of an e-mail. */
export type MailReason = ReasonOf<MailCode>;

const turkish: Record<MailCode, Words> = {
  "MAIL.TAKEN": (host, to, reply) => `${host}, ${to} adresine giden e-postayı aldı: ${reply}`,
  "MAIL.NOT_SET": () =>
    "Bu sunucu henüz e-posta göndermiyor: bir yönetici Ayarlar, E-posta bölümünde posta sunucusunu belirler ya da sunucu --smtp, --smtp-from ve --smtp-password-file ile başlatılır.",
  "MAIL.NO_ROUTE": (place, ...more) =>
    `${place} posta sunucusuna giden yol yok: bu makinenin ağını kontrol edin${yanit(...more)}`,
  "MAIL.NOBODY_LISTENS": (place, ...more) =>
    `${place} adresinde posta sunucusu yok: sunucu adını ve portu kontrol edin${yanit(...more)}`,
  "MAIL.UNKNOWN_HOST": (place, ...more) =>
    `${place} posta sunucusunun adı bilinmiyor: sunucu adını ve bu makinenin DNS ayarını kontrol edin${yanit(...more)}`,
  "MAIL.SILENT": (place, ...more) =>
    `${place} posta sunucusu yanıt vermiyor: portu ve güvenlik duvarını kontrol edin${yanit(...more)}`,
  "MAIL.SIGN_IN": (place, ...more) =>
    `${place} posta sunucusu adı ya da parolayı kabul etmiyor: ikisini de kontrol edin, birçok sağlayıcı uygulama parolası ister${yanit(...more)}`,
  "MAIL.NOT_ENCRYPTED": (place, ...more) =>
    `${place} bağlantısı şifrelenemiyor: baştan şifreli bağlantıyı ya da STARTTLS destekleyen bir posta sunucusunu seçin${yanit(...more)}`,
  "MAIL.SENDER": (place, ...more) =>
    `${place} posta sunucusu göndereni kabul etmiyor: bu hesabın kullanabileceği bir adres girin${yanit(...more)}`,
  "MAIL.RECIPIENT": (place, ...more) =>
    `${place} posta sunucusu alıcıyı kabul etmiyor: adresi kontrol edin${yanit(...more)}`,
  "MAIL.PASSWORD_FILE": (_place, ...more) =>
    `Posta parolasının dosyası okunamıyor: parolayı bu programın okuyabileceği biçimde oraya yazın${yanit(...more)}`,
  "MAIL.PASSWORD": () =>
    "Posta sunucusunun saklanan parolası bu sunucunun gizli anahtarıyla okunamıyor: Ayarlar, E-posta bölümünde yeniden girin",
  "MAIL.NOT_TAKEN": (place, ...more) =>
    `${place} posta sunucusu e-postayı almadı: sunucu adını, portu ve sunucunun günlüğünü kontrol edin${yanit(...more)}`,
};

export function mailReason(code: MailCode, ...values: readonly string[]): MailReason {
  return reasonOf(code, ...values);
}

export function isMailCode(code: string): code is MailCode {
  return Object.hasOwn(english, code);
}

export function mailText({ code, values }: MailReason, language: Language = "en"): string {
  const tables: Record<Language, Record<MailCode, Words>> = { en: english, tr: turkish };
  return tables[language][code](...values);
}
