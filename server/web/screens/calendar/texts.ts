import type { EventStatus, EventType } from "../../../../shared/api/calendar.ts";
import { texts } from "../../text.ts";

export const statusName = texts(
  {
    SCHEDULED: "Scheduled",
    CHECKED_IN: "Checked in",
    IN_PROGRESS: "In progress",
    PENDING_CHECKOUT: "To check out",
    CLOSED: "Closed",
    CANCELLED: "Cancelled",
  } satisfies Record<EventStatus, string>,
  {
    SCHEDULED: "Planlandı",
    CHECKED_IN: "Geldi",
    IN_PROGRESS: "Muayenede",
    PENDING_CHECKOUT: "Çıkış bekliyor",
    CLOSED: "Kapandı",
    CANCELLED: "İptal edildi",
  },
);

/** Labels the button that sets a status. */
export const stepName = texts(
  {
    SCHEDULED: "Schedule",
    CHECKED_IN: "Check in",
    IN_PROGRESS: "Begin",
    PENDING_CHECKOUT: "To checkout",
    CLOSED: "Close",
    CANCELLED: "Cancel event",
  } satisfies Record<EventStatus, string>,
  {
    SCHEDULED: "Planla",
    CHECKED_IN: "Girişini yap",
    IN_PROGRESS: "Başla",
    PENDING_CHECKOUT: "Çıkışa gönder",
    CLOSED: "Kapat",
    CANCELLED: "İptal et",
  },
);

export const typeName = texts(
  {
    APPOINTMENT: "Appointment",
    SURGERY: "Surgery",
    VACCINATION: "Vaccination",
    CHECKUP: "Check-up",
    EMERGENCY: "Emergency",
    SALE: "Sale",
  } satisfies Record<EventType, string>,
  {
    APPOINTMENT: "Randevu",
    SURGERY: "Ameliyat",
    VACCINATION: "Aşı",
    CHECKUP: "Kontrol",
    EMERGENCY: "Acil",
    SALE: "Satış",
  },
);

export const types: readonly EventType[] = ["APPOINTMENT", "CHECKUP", "VACCINATION", "SURGERY", "EMERGENCY", "SALE"];

export const t = texts(
  {
    calendar: "Calendar",
    zone: "Times in {zone}",
    newEvent: "New event",
    range: "Range",
    day: "Day",
    week: "Week",
    before: "Earlier",
    today: "Today",
    after: "Later",
    date: "Date",
    none: "No events",
    noPatient: "no patient",
    title: "Title",
    type: "Type",
    start: "Start",
    end: "End",
    assigned: "Assigned to",
    nobody: "Nobody",
    add: "Add",
    back: "Back",
    skipped: "Clocks skip this time: summer time begins.",
    reversed: "The end is not after the start.",
    cancelTitle: "Cancel this event?",
    cancelText: "{title} at {time} will be cancelled. A cancelled event stays cancelled.",
  },
  {
    calendar: "Takvim",
    zone: "Saatler: {zone}",
    newEvent: "Yeni etkinlik",
    range: "Aralık",
    day: "Gün",
    week: "Hafta",
    before: "Önceki",
    today: "Bugün",
    after: "Sonraki",
    date: "Tarih",
    none: "Etkinlik yok",
    noPatient: "hasta yok",
    title: "Başlık",
    type: "Tür",
    start: "Başlangıç",
    end: "Bitiş",
    assigned: "Sorumlu",
    nobody: "Kimse",
    add: "Ekle",
    back: "Geri",
    skipped: "Saatler bu zamanı atlıyor: yaz saati başlıyor.",
    reversed: "Bitiş, başlangıçtan sonra değil.",
    cancelTitle: "Bu etkinlik iptal edilsin mi?",
    cancelText: "{time} saatindeki {title} iptal edilecek. İptal edilen etkinlik geri alınamaz.",
  },
);
