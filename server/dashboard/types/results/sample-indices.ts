import type { Language } from "../../../../shared/api/language.ts";

// The indices of a sample that analyzers send as a comment: `HEM:   0 LIP:  12 ICT:   1`.

const INDEX = /(HEM|LIP|ICT)\s*[:=]\s*([+\d]+)/g;

const words = {
  HEM: ["hemolysis", "hemoliz"],
  LIP: ["lipemia", "lipemi"],
  ICT: ["icterus", "ikter"],
} as const;

/** Returns a comment of indices alone in words of the language, and every other comment as the device sent it. */
export function commentText(comment: string, language: Language): string {
  if (!/[A-Z]/.test(comment) || comment.replaceAll(INDEX, "").replaceAll(/[\s,;|]/g, "") !== "") return comment;
  const parts = [...comment.matchAll(INDEX)].map(([, index, grade]) => {
    const [english, turkish] = words[index as keyof typeof words];
    return `${language === "tr" ? turkish : english} ${grade}`;
  });
  return parts.join(", ");
}
