/** Returns a text for a search: without case, accents and the dots of the Turkish İ and ı. */
export function folded(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase().replaceAll("ı", "i").trim();
}
