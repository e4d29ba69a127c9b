import type { Language } from "../../../shared/api/language.ts";

// The words of the frame around the documents, for the build and for the script of the page.

const table = {
  documents: ["Documentation", "Belgeler"],
  skip: ["Skip to the text", "Metne geç"],
  pages: ["Pages", "Sayfalar"],
  search: ["Search the documentation", "Belgelerde ara"],
  found: ["Search results", "Arama sonuçları"],
  count: ["Found: {count}", "Bulunan: {count}"],
  none: ["No page has these words. Try fewer.", "Bu sözcükler hiçbir sayfada yok. Daha azını deneyin."],
  failed: ["The search did not load. Reload the page.", "Arama yüklenemedi. Sayfayı yenileyin."],
  version: ["Version {version}", "Sürüm {version}"],
  more: ["Previous and next page", "Önceki ve sonraki sayfa"],
  previous: ["Previous", "Önceki"],
  next: ["Next", "Sonraki"],
  table: ["Table", "Tablo"],
  clinic: ["The clinic", "Klinik"],
  setUp: ["Set up", "Kurulum"],
  devices: ["Devices", "Cihazlar"],
  daily: ["Daily use", "Günlük kullanım"],
  integration: ["Other software", "Diğer yazılımlar"],
  references: ["References", "Başvuru"],
  guides: ["Guides", "Kılavuzlar"],
  operation: ["Operation", "İşletim"],
  install: ["Install", "Yükleme"],
  run: ["Run", "Çalıştırma"],
  backup: ["Backup and upgrade", "Yedekleme ve yükseltme"],
  security: ["Security", "Güvenlik"],
  development: ["Development", "Geliştirme"],
  agent: ["Agent", "Ajan"],
  server: ["Server", "Sunucu"],
  shared: ["Shared", "Ortak"],
  tests: ["Tests", "Testler"],
  decisions: ["Decisions", "Kararlar"],
} as const;

export type Word = keyof typeof table;

/** Returns a word of the frame; `{name}` is filled from `values`. */
export function word(name: Word, language: Language, values: Readonly<Record<string, string | number>> = {}): string {
  const text = table[name][language === "tr" ? 1 : 0];
  return text.replaceAll(/\{(\w+)\}/g, (_, gap: string) => String(values[gap] ?? ""));
}
