import { studyWords } from "../types/results/study-words.ts";
import type { Language } from "../../../shared/api/language.ts";

// The words of printed reports and CSV files.

const words = {
  ...studyWords,
  title: ["Laboratory result", "Laboratuvar sonucu"],
  patient: ["Patient", "Hasta"],
  species: ["Species", "Tür"],
  breed: ["Breed", "Irk"],
  sex: ["Sex", "Cinsiyet"],
  born: ["Date of birth", "Doğum tarihi"],
  flaggedFor: ["Ranges and flags are for", "Aralıklar ve işaretler şunun için"],
  noPatient: ["not placed yet", "henüz yerleştirilmedi"],
  device: ["Device", "Cihaz"],
  sample: ["Sample", "Numune"],
  acquired: ["Measured", "Ölçüm zamanı"],
  received: ["Received", "Geliş zamanı"],
  revision: ["Revision", "Sürüm"],
  analyte: ["Analyte", "Analit"],
  name: ["Name", "Ad"],
  value: ["Value", "Değer"],
  unit: ["Unit", "Birim"],
  range: ["Reference", "Referans"],
  flag: ["Flag", "İşaret"],
  deviceSays: ["Device's own", "Cihazın kendi verisi"],
  ownCode: ["the device's own code", "cihazın kendi kodu"],
  mappedCode: ["mapped by the clinic", "klinik eşledi"],
  noInterval: ["no interval", "referans aralığı yok"],
  sources: ["Sources of the intervals", "Referans aralıklarının kaynakları"],
  ofDevice: ["the device's own interval", "cihazın kendi aralığı"],
  notes: ["Notes", "Notlar"],
  comments: ["The analyzer on the sample", "Analizörün numune hakkındaki bildirimi"],
  noResults: ["This study has no measured values.", "Bu tetkikte ölçülmüş değer yok."],
  printed: ["Printed", "Yazdırma zamanı"],
  page: ["Page", "Sayfa"],
  modality: ["Kind", "Tetkik türü"],
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
