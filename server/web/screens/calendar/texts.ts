import type { EventStatus, EventType } from "../../../../shared/api/calendar.ts";
import { locale, translations, type Words } from "../../text.ts";

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
  month: ["Month", "Ay"],
  before: ["Earlier", "Önceki"],
  today: ["Today", "Bugün"],
  after: ["Later", "Sonraki"],
  date: ["Date", "Tarih"],
  allDay: ["all day", "tüm gün"],
  until: ["until {time}", "bitiş: {time}"],
  since: ["since {time}", "başlangıç: {time}"],
  goesOn: ["goes on:", "sürüyor:"],
  none: ["No events", "Etkinlik yok"],
  noPatient: ["no patient", "hasta yok"],
  title: ["Title", "Başlık"],
  type: ["Type", "Tür"],
  start: ["Start", "Başlangıç"],
  end: ["End", "Bitiş"],
  assigned: ["Assigned to", "Sorumlu"],
  nobody: ["Nobody", "Kimse"],
  add: ["Add", "Ekle"],
  addAnyway: ["Add all the same", "Yine de ekle"],
  editEvent: ["Edit event", "Etkinliği düzenle"],
  save: ["Save", "Kaydet"],
  saveAnyway: ["Save all the same", "Yine de kaydet"],
  sameTime: ["At the same time:", "Aynı saatte:"],
  now: ["The event is now:", "Etkinliğin şimdiki hali:"],
  saveOver: [
    "Save again to put your entries in its place.",
    "Kendi girdiklerinizi yerine yazmak için yeniden kaydedin.",
  ],
  edit: ["Edit", "Düzenle"],
  undo: ["Undo", "Geri al"],
  undoTo: ["{title}, back to: {status}", "{title}, önceki durum: {status}"],
  ofSoftware: ["{source} keeps this appointment: change it there.", "Bu randevuyu {source} tutuyor: orada değiştirin."],
  events: ["{count} {count|event|events}", "{count} etkinlik"],
  more: ["{count} more", "{count} etkinlik daha"],
  back: ["Back", "Geri"],
  skipped: ["Clocks skip this time: summer time begins.", "Saatler bu zamanı atlıyor: yaz saati başlıyor."],
  reversed: ["The end is not after the start.", "Bitiş, başlangıçtan sonra değil."],
  cancelTitle: ["Cancel this event?", "Bu etkinlik iptal edilsin mi?"],
  cancelText: [
    "{title} at {time} will be cancelled. “Undo” brings it back.",
    "{time} saatindeki {title} iptal edilecek. “Geri al” onu geri getirir.",
  ],
});

/** A calendar day is formatted in UTC, because it has no zone. */
const formatDay = (day: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(locale(), { ...options, timeZone: "UTC" }).format(new Date(day));

export const dayName = (day: string) => formatDay(day, { dateStyle: "full" });
export const shortDay = (day: string) => formatDay(day, { day: "numeric", month: "short" });
export const weekdayName = (day: string) => formatDay(day, { weekday: "short" });
/** Names a month such as `2026-11`. */
export const monthName = (month: string) => formatDay(month, { month: "long", year: "numeric" });
