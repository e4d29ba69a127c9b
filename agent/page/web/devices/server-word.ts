import { translations } from "../../../../server/web/text.ts";

const SERVER_STATES = [
  "not asked yet",
  "reached",
  "cannot be reached",
  "does not work",
  "wrong key",
  "key lacks permission",
] as const;

/** Returns the state of the server in words. */
export function serverWord(state: string): string {
  const known = SERVER_STATES.find((word) => word === state);
  return known === undefined ? state : t(known);
}

const t = translations({
  "not asked yet": ["not asked yet", "henüz sorulmadı"],
  reached: ["reached", "erişiliyor"],
  "cannot be reached": ["cannot be reached", "erişilemiyor"],
  "does not work": ["does not work", "çalışmıyor"],
  "wrong key": ["does not take this agent’s key", "bu aracının anahtarını kabul etmiyor"],
  "key lacks permission": ["the key lacks a permission", "anahtarın bir izni eksik"],
});
