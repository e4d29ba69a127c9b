import type { EventStatus, EventType } from "../../../../shared/api/calendar.ts";
import { translations, type Words } from "../../text.ts";

export const statusName = translations({
  SCHEDULED: ["Scheduled", "Planlandı"],
  CHECKED_IN: ["Checked in", "Geldi"],
  IN_PROGRESS: ["In progress", "Muayenede"],
  PENDING_CHECKOUT: ["To check out", "Çıkış bekliyor"],
  CLOSED: ["Closed", "Kapandı"],
  CANCELLED: ["Cancelled", "İptal edildi"],
} satisfies Words<EventStatus>);

/** Labels the button that sets a status. */
export const stepName = translations({
  SCHEDULED: ["Schedule", "Planla"],
  CHECKED_IN: ["Check in", "Girişini yap"],
  IN_PROGRESS: ["Begin", "Başla"],
  PENDING_CHECKOUT: ["To checkout", "Çıkışa gönder"],
  CLOSED: ["Close", "Kapat"],
  CANCELLED: ["Cancel event", "İptal et"],
} satisfies Words<EventStatus>);

export const typeName = translations({
  APPOINTMENT: ["Appointment", "Randevu"],
  SURGERY: ["Surgery", "Ameliyat"],
  VACCINATION: ["Vaccination", "Aşı"],
  CHECKUP: ["Check-up", "Kontrol"],
  EMERGENCY: ["Emergency", "Acil"],
  SALE: ["Sale", "Satış"],
} satisfies Words<EventType>);

export const types: readonly EventType[] = ["APPOINTMENT", "CHECKUP", "VACCINATION", "SURGERY", "EMERGENCY", "SALE"];

export const t = translations({
  calendar: ["Calendar", "Takvim"],
  zone: ["Times in {zone}", "Saatler: {zone}"],
  newEvent: ["New event", "Yeni etkinlik"],
  range: ["Range", "Aralık"],
  day: ["Day", "Gün"],
  week: ["Week", "Hafta"],
  before: ["Earlier", "Önceki"],
  today: ["Today", "Bugün"],
  after: ["Later", "Sonraki"],
  date: ["Date", "Tarih"],
  none: ["No events", "Etkinlik yok"],
  noPatient: ["no patient", "hasta yok"],
  title: ["Title", "Başlık"],
  type: ["Type", "Tür"],
  start: ["Start", "Başlangıç"],
  end: ["End", "Bitiş"],
  assigned: ["Assigned to", "Sorumlu"],
  nobody: ["Nobody", "Kimse"],
  add: ["Add", "Ekle"],
  back: ["Back", "Geri"],
  skipped: ["Clocks skip this time: summer time begins.", "Saatler bu zamanı atlıyor: yaz saati başlıyor."],
  reversed: ["The end is not after the start.", "Bitiş, başlangıçtan sonra değil."],
  cancelTitle: ["Cancel this event?", "Bu etkinlik iptal edilsin mi?"],
  cancelText: [
    "{title} at {time} will be cancelled. A cancelled event stays cancelled.",
    "{time} saatindeki {title} iptal edilecek. İptal edilen etkinlik geri alınamaz.",
  ],
});
