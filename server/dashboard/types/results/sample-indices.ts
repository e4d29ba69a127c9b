import type { Language } from "../../../../shared/api/language.ts";
import type { NotReported } from "../../../../shared/api/study.ts";
import { remarkText } from "../../../../shared/clinical/device-words/device-words.ts";

// The indices of a sample: as analyzers send them in a comment, `HEM:   0 LIP:  12 ICT:   1`, and in place of a value, `HEM`.

const INDEX = /(HEM|LIP|ICT)\s*[:=]\s*([+\d]+)/g;

const words = {
  HEM: ["hemolysis", "hemoliz"],
  LIP: ["lipemia", "lipemi"],
  ICT: ["icterus", "ikter"],
} as const;

/** Returns a comment of indices alone in words of the language, those of the agent too, and every other one as the device sent it. */
export function commentText(comment: string, language: Language): string {
  if (!/[A-Z]/.test(comment) || comment.replaceAll(INDEX, "").replaceAll(/[\s,;|]/g, "") !== "")
    return remarkText(comment, language);
  const parts = [...comment.matchAll(INDEX)].map(([, index, grade]) => {
    const [english, turkish] = words[index as keyof typeof words];
    return `${language === "tr" ? turkish : english} ${grade}`;
  });
  return parts.join(", ");
}

const gapWords = {
  not_final: ["no final value", "kesin değer yok"],
  suppressed: ["not reported because of {cause}", "bildirilmedi: {cause}"],
  printed: ["not reported, the analyzer printed {text}", "bildirilmedi, analizör {text} yazdı"],
} as const;

/** Returns why a result has no value, in words of the language. */
export function notReportedText({ code, text }: NotReported, language: Language): string {
  const inLanguage = (pair: readonly [string, string]) => pair[language === "tr" ? 1 : 0];
  if (code === "not_final") return inLanguage(gapWords.not_final);
  const index = Object.keys(words).find((each) => each === text.toUpperCase()) as keyof typeof words | undefined;
  return index === undefined
    ? inLanguage(gapWords.printed).replace("{text}", () => text)
    : inLanguage(gapWords.suppressed).replace("{cause}", inLanguage(words[index]));
}
