import { printable } from "../../../shared/runtime/printable.ts";
import type { Mail } from "../mail/smtp.ts";
import type { AlertMessage } from "./book.ts";
import { type AlertLanguage, alertPath, alertText } from "./texts.ts";

// The text of an e-mail. It names kinds, devices and counts, never a patient or an owner: e-mails travel and stay unprotected.

/** The sender of the text. */
export interface Teller {
  readonly name: string;
  /** Address of the dashboard, such as `https://vetwire.example.com/dashboard`; null if it is unknown. */
  readonly dashboard: string | null;
  readonly language: AlertLanguage;
  readonly timeZone: string;
}

const SUBJECT_CHARS_MAX = 150;

/** Writes one e-mail about all messages. */
export function alertMail(to: string, messages: readonly AlertMessage[], teller: Teller): Mail {
  const words = { en: english, tr: turkish }[teller.language];
  const [first] = messages;
  const isOne = first !== undefined && messages.length === 1;
  const subject = isOne ? titleOf(first, teller) : words.several(messages.length);
  const parts = messages.map((message) => paragraph(message, teller));
  if (messages.some(({ isRepeat }) => isRepeat)) parts.unshift(words.repeat);
  return mail(to, subject, [printable(teller.name), ...parts, words.footer]);
}

/** Writes the e-mail of the test button. */
export function testMail(to: string, teller: Teller): Mail {
  const words = { en: english, tr: turkish }[teller.language];
  return mail(to, words.testSubject, [printable(teller.name), words.test]);
}

function mail(to: string, subject: string, paragraphs: readonly string[]): Mail {
  return {
    to,
    subject: printable(`Vetwire: ${subject}`).slice(0, SUBJECT_CHARS_MAX),
    text: `${paragraphs.join("\n\n")}\n`,
  };
}

function titleOf({ event, alert }: AlertMessage, { language }: Teller): string {
  const { title } = alertText(alert, language);
  return event === "opened" ? title : { en: english, tr: turkish }[language].over(title);
}

function paragraph(message: AlertMessage, teller: Teller): string {
  const { alert, event, at } = message;
  const words = { en: english, tr: turkish }[teller.language];
  const time = (ms: number) =>
    new Intl.DateTimeFormat(teller.language === "tr" ? "tr-TR" : "en-GB", {
      dateStyle: "medium",
      timeStyle: "short",
      timeZone: teller.timeZone,
    }).format(ms);
  const title = printable(titleOf(message, teller));
  if (event === "closed") return `${title}\n${words.overAt(time(at))}`;
  const link = teller.dashboard === null ? [] : [`${teller.dashboard}${alertPath(alert)}`];
  return [title, words.since(time(alert.since)), alertText(alert, teller.language).advice, ...link].join("\n");
}

const english = {
  several: (count: number) => `${count} alerts`,
  over: (title: string) => `Over: ${title}`,
  since: (time: string) => `Since ${time}.`,
  overAt: (time: string) => `It ended at ${time}.`,
  repeat:
    "You may have got this e-mail already: the connection or the program ended before it was certain that it arrived.",
  footer: "The clinic chooses under Settings, Notifications who gets these e-mails.",
  testSubject: "Test of the notifications",
  test: "This is a test. Alerts will arrive at this address.",
};

const turkish: typeof english = {
  several: (count) => `${count} uyarı`,
  over: (title) => `Sona erdi: ${title}`,
  since: (time) => `Başlangıç: ${time}.`,
  overAt: (time) => `Bitiş: ${time}.`,
  repeat: "Bu e-postayı daha önce almış olabilirsiniz: ulaştığı kesinleşmeden bağlantı ya da program sona erdi.",
  footer: "Bu e-postaları kimlerin alacağını klinik, Ayarlar, Bildirimler altında seçer.",
  testSubject: "Bildirim denemesi",
  test: "Bu bir denemedir. Uyarılar bu adrese gelecektir.",
};
