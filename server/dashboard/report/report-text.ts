import { studyWords } from "../types/results/study-words.ts";
import type { Language } from "../../../shared/api/language.ts";

// The words of printed reports and CSV files.

const words = {
  ...studyWords,
  title: ["Laboratory report", "Laboratuvar raporu"],
  ofImages: ["Report", "Rapor"],
  reported: ["Reported", "Rapor"],
  owner: ["Owner", "Sahibi"],
  patient: ["Animal", "Hasta"],
  flaggedFor: ["Ranges and flags are for", "Aralıklar ve işaretler şunun için"],
  noPatient: ["not placed yet", "henüz yerleştirilmedi"],
  device: ["Device", "Cihaz"],
  order: ["Order", "İstem"],
  sample: ["Sample", "Numune"],
  acquired: ["Measured", "Ölçüm zamanı"],
  revision: ["Revision", "Sürüm"],
  analyte: ["Test", "Test"],
  value: ["Result", "Sonuç"],
  range: ["Interval", "Aralık"],
  before: ["Previous", "Önceki"],
  ownCode: ["the device's own code", "cihazın kendi kodu"],
  mappedCode: ["mapped by the clinic", "klinik eşledi"],
  noInterval: ["no interval", "referans aralığı yok"],
  sources: ["Sources of the intervals", "Referans aralıklarının kaynakları"],
  why: ["Why these intervals", "Neden bu aralıklar"],
  others: ["the others", "diğerleri"],
  ofDevice: ["the device's own interval", "cihazın kendi aralığı"],
  comments: ["The analyzer on the sample", "Analizörün numune hakkındaki bildirimi"],
  control: ["Quality control of the analyzer", "Analizörün kalite kontrolü"],
  released: ["Released by", "Serbest bırakan"],
  notReported: ["Without a result", "Sonucu olmayanlar"],
  noResults: ["This study has no measured values.", "Bu tetkikte ölçülmüş değer yok."],
  fromVet: ["From your vet", "Veteriner hekiminizden"],
  barMeans: [
    "Bar: the shaded part is the usual interval, the mark is the result.",
    "Çubuk: koyu bölüm olağan aralıktır, işaret sonucu gösterir.",
  ],
  ringMeans: ["Ring: the time before.", "Halka: önceki sonuç."],
  boldMeans: ["Bold: outside.", "Kalın: aralık dışı."],
  doubted: [
    "?: the analyzer doubts this value; read it with care.",
    "?: analizör bu değerden kuşkulu; dikkatle değerlendirin.",
  ],
  page: ["Page", "Sayfa"],
  low: ["low", "düşük"],
  high: ["high", "yüksek"],
  ofClinic: ["the clinic's own intervals", "kliniğin kendi aralıkları"],
  normal: ["normal", "normal"],
  critical: ["critical", "kritik"],
  criticalLow: ["critical low", "kritik düşük"],
  criticalHigh: ["critical high", "kritik yüksek"],
  abnormal: ["abnormal", "anormal"],
  male: ["male", "erkek"],
  female: ["female", "dişi"],
  male_neutered: ["male, neutered", "erkek, kısırlaştırılmış"],
  female_spayed: ["female, spayed", "dişi, kısırlaştırılmış"],
  unknown: ["unknown", "bilinmiyor"],
} as const;

export type ReportWord = keyof typeof words;

export function reportWord(language: Language, word: ReportWord): string {
  return words[word][language === "tr" ? 1 : 0];
}
