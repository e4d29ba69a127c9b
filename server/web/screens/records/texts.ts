import { translations } from "../../text.ts";

/** Translates a type of records. Types that the clinic defined are shown unchanged. */
export function typeName(type: string): string {
  return type === "EXAMINATION" ? t("examination") : type;
}

export const statusName = translations({
  DRAFT: ["Draft", "Taslak"],
  IN_PROGRESS: ["In progress", "Sürüyor"],
  SIGNED: ["Signed", "İmzalı"],
  LOCKED: ["Locked", "Kilitli"],
});

export const t = translations({
  examination: ["Examination", "Muayene"],
  records: ["Records", "Kayıtlar"],
  newRecord: ["New record", "Yeni kayıt"],
  onePatient: ["Filter by patient", "Hastaya göre süz"],
  toPatient: ["Go to the patient", "Hastaya git"],
  status: ["Status", "Durum"],
  everyStatus: ["All", "Tümü"],
  patientFilter: ["Only records of {name}", "Yalnızca {name} kayıtları"],
  thisPatient: ["this patient", "bu hastanın"],
  everyPatient: ["Show all patients", "Tüm hastaları göster"],
  list: ["SOAP records", "SOAP kayıtları"],
  patient: ["Patient", "Hasta"],
  type: ["Type", "Tür"],
  clinic: ["Clinic", "Klinik"],
  written: ["Written", "Yazıldı"],
  signed: ["Signed", "İmzalandı"],
  none: ["There are no records here", "Burada kayıt yok"],
  noneStaff: ["Write the first one with New record.", "İlk kaydı Yeni kayıt ile yazın."],
  noneReader: ["Staff of the clinic write records.", "Kayıtları klinik çalışanları yazar."],
  typeHint: ["Such as EXAMINATION; capital letters, digits and _", "Örneğin EXAMINATION; büyük harf, rakam ve _"],
  write: ["Write", "Yaz"],
  choosePatient: ["Choose a patient first.", "Önce bir hasta seçin."],
  ownClinic: ["this clinic", "bu klinik"],
  amends: ["This record corrects", "Bu kaydın düzelttiği:"],
  anEarlier: ["an earlier record", "önceki bir kayıt"],
  amendedBy: ["Corrected by", "Düzelten kayıt:"],
  subjective: ["Subjective", "Subjektif"],
  objective: ["Objective", "Objektif"],
  assessment: ["Assessment", "Değerlendirme"],
  plan: ["Plan", "Plan"],
  subjectiveHint: ["What the owner reports", "Hasta sahibinin anlattıkları"],
  objectiveHint: ["Findings of the examination", "Muayene bulguları"],
  assessmentHint: ["What the findings mean", "Bulguların anlamı"],
  planHint: ["Treatment, tests, follow-up", "Tedavi, testler, kontrol"],
  nothing: ["Nothing recorded", "Kayıt yok"],
  save: ["Save", "Kaydet"],
  saved: ["Everything is saved.", "Her şey kaydedildi."],
  saving: ["Saving…", "Kaydediliyor…"],
  unsaved: ["Not saved yet.", "Henüz kaydedilmedi."],
  begin: ["Begin", "Başla"],
  sign: ["Sign", "İmzala"],
  lock: ["Lock", "Kilitle"],
  amend: ["Amend", "Düzeltme yaz"],
  signTitle: ["Sign this record?", "Bu kayıt imzalansın mı?"],
  signText: [
    "Signed records cannot be changed. A correction is a new record that names this one.",
    "İmzalı kayıtlar değiştirilemez. Düzeltme, bu kaydı anan yeni bir kayıttır.",
  ],
  lockTitle: ["Lock this record?", "Bu kayıt kilitlensin mi?"],
  lockText: [
    "A locked record stays as it is for good. Corrections are still new records.",
    "Kilitli bir kayıt kalıcı olarak böyle kalır. Düzeltmeler yine yeni kayıtlardır.",
  ],
  readOnly: [
    "{clinic} wrote this record. Only that clinic changes it.",
    "Bu kaydı {clinic} yazdı. Yalnızca o klinik değiştirir.",
  ],
  conflict: [
    "Someone else changed this record while you wrote. Your text is still here, but not saved.",
    "Siz yazarken başka biri bu kaydı değiştirdi. Metniniz burada duruyor, ama kaydedilmedi.",
  ],
  stored: ["Stored now:", "Şu an kayıtlı olan:"],
  keepMine: ["Save my text", "Benim metnimi kaydet"],
  takeTheirs: ["Take the stored text", "Kayıtlı metni al"],
  closedMeanwhile: [
    "This record was signed while you wrote. Your text below is not part of it.",
    "Siz yazarken bu kayıt imzalandı. Aşağıdaki metniniz kayda girmedi.",
  ],
  dropMine: ["Drop my text", "Metnimi bırak"],
});
