import type { AlertKind } from "./kinds.ts";

// The words of an alert: the cause in one line, and what to do. The dashboard and the server use the same words.

export type AlertLanguage = "en" | "tr";

interface KindText {
  /** `{subject}` is the name of the device, agent or key, `{count}` a number. */
  readonly title: string;
  readonly advice: string;
}

interface AlertText {
  readonly kind: AlertKind;
  readonly subject: string;
  readonly count?: number;
  readonly path?: string;
}

/** @returns the cause and what to do, in words */
export function alertText({ kind, subject, count = 1 }: AlertText, language: AlertLanguage): KindText {
  const { title, advice } = { en: english, tr: turkish }[language][kind];
  const fill = (text: string) => text.replaceAll("{subject}", subject).replaceAll("{count}", String(count));
  return { title: fill(title), advice: fill(advice) };
}

/** @returns the page of the dashboard that helps, such as `/devices` */
export function alertPath({ kind, path }: AlertText): string {
  return path ?? paths[kind];
}

const paths: Record<AlertKind, string> = {
  "agent-silent": "/devices",
  "device-silent": "/devices",
  "device-down": "/devices",
  unmatched: "/to-place",
  quarantined: "/devices",
  "critical-unseen": "",
  "outbox-old": "/devices",
  "disk-full": "/devices",
  "clock-wrong": "/devices",
  "key-ends": "/settings/keys",
  "password-known": "/settings/users",
  "backup-failed": "",
  "update-failed": "/devices",
  "webhook-paused": "/settings/webhooks",
  "results-refused": "/settings/destinations",
  "results-wait": "/settings/destinations",
  "reagent-expired": "/devices",
  "device-faults": "/devices",
};

const english: Record<AlertKind, KindText> = {
  "agent-silent": {
    title: "The clinic PC {subject} is silent",
    advice: "Switch it on, and check its network. Results wait until it is back.",
  },
  "device-silent": {
    title: "{subject} sends nothing for unusually long",
    advice: "Check that it is on and its cable is in, and send a result again. If it is not in use, nothing is wrong.",
  },
  "device-down": {
    title: "{subject} cannot be reached",
    advice: "Open Devices: it says what is wrong with its port and what to do.",
  },
  unmatched: {
    title: "Studies without a patient: {count}",
    advice: "Open To place and choose their patients.",
  },
  quarantined: {
    title: "{subject} sent results that cannot be filed: {count}",
    advice: "On the clinic PC, list them with `agent messages`, and run them again with `agent reprocess`.",
  },
  "critical-unseen": {
    title: "A critical value of {subject} is not seen yet",
    advice: "Open the result. Opening it counts as seen.",
  },
  "outbox-old": {
    title: "Results wait on the clinic PC: {count}",
    advice: "Check the internet of the clinic PC. It keeps the results and sends them by itself.",
  },
  "disk-full": {
    title: "The disk of {subject} is almost full",
    advice: "Free some space. Without space, devices are refused.",
  },
  "clock-wrong": {
    title: "The clock of {subject} is wrong",
    advice: "Switch on automatic time in the settings of the clinic PC.",
  },
  "key-ends": {
    title: "The API key {subject} ends soon",
    advice: "Renew it under Settings, API keys. Without it, its program is refused.",
  },
  "password-known": {
    title: "Somebody else knows the password of {subject}",
    advice:
      "Ten wrong codes followed it. {subject} changes it under “Your account”, or an admin gives a new one under Settings, Users.",
  },
  "backup-failed": {
    title: "The last backup of {subject} failed",
    advice: "Check the disk of the backups, and make a backup by hand. Today says what failed.",
  },
  "update-failed": {
    title: "The update of the clinic PC {subject} did not work",
    advice: "It works on with the version before. Open Devices: it says why and what to do.",
  },
  "webhook-paused": {
    title: "The webhook to {subject} paused itself",
    advice: "Its messages wait. Open Settings, Webhooks: it says why. Resume it there once the program works.",
  },
  "results-refused": {
    title: "Results that {subject} did not take: {count}",
    advice: "Open Settings, Practice software: it says why. Repair the cause, and send them again.",
  },
  "results-wait": {
    title: "Results wait for {subject}: {count}",
    advice: "Check that the program runs and its machine is on. Settings, Practice software says what it answered.",
  },
  "reagent-expired": {
    title: "{subject} was used with reagents past their expiry: {count}",
    advice:
      "Open Devices, Log of the device: it names them. Load a new lot, run a control, and repeat the results that matter.",
  },
  "device-faults": {
    title: "{subject} reports faults again and again: {count}",
    advice:
      "Open Devices, Log of the device: it lists them in the device's own words. If they come back, call its service.",
  },
};

const turkish: Record<AlertKind, KindText> = {
  "agent-silent": {
    title: "{subject} adlı klinik bilgisayarından haber yok",
    advice: "Bilgisayarı açın ve ağ bağlantısını kontrol edin. Sonuçlar o zamana kadar bekler.",
  },
  "device-silent": {
    title: "{subject} alışılmadık kadar uzun süredir veri göndermiyor",
    advice:
      "Açık ve kablosunun takılı olduğunu kontrol edin, bir sonucu yeniden gönderin. Kullanılmıyorsa sorun yoktur.",
  },
  "device-down": {
    title: "{subject} cihazına ulaşılamıyor",
    advice: "Cihazlar sayfasını açın: bağlantı noktasındaki sorun ve çözümü orada yazar.",
  },
  unmatched: {
    title: "Hastası belirsiz tetkik: {count}",
    advice: "Yerleştirilecekler sayfasını açın ve hastalarını seçin.",
  },
  quarantined: {
    title: "{subject} kaydedilemeyen sonuç gönderdi: {count}",
    advice: "Klinik bilgisayarında `agent messages` ile listeleyin, `agent reprocess` ile yeniden işleyin.",
  },
  "critical-unseen": {
    title: "{subject} cihazının kritik bir değeri henüz görülmedi",
    advice: "Sonucu açın. Açılan sonuç görülmüş sayılır.",
  },
  "outbox-old": {
    title: "Klinik bilgisayarında bekleyen sonuç: {count}",
    advice: "Klinik bilgisayarının internetini kontrol edin. Sonuçlar saklanır ve kendiliğinden gönderilir.",
  },
  "disk-full": {
    title: "{subject} diskinde yer azaldı",
    advice: "Yer açın. Yer kalmazsa cihazların sonuçları kabul edilmez.",
  },
  "clock-wrong": {
    title: "{subject} saati yanlış",
    advice: "Klinik bilgisayarının ayarlarında otomatik saati açın.",
  },
  "key-ends": {
    title: "{subject} API anahtarının süresi yakında doluyor",
    advice: "Ayarlar, API anahtarları altında yenileyin. Anahtarsız program kabul edilmez.",
  },
  "password-known": {
    title: "{subject} parolasını başka biri biliyor",
    advice:
      "Parolanın ardından on yanlış kod girildi. {subject} parolasını “Hesabınız” altında değiştirir ya da bir yönetici Ayarlar, Kullanıcılar altında yenisini verir.",
  },
  "backup-failed": {
    title: "{subject} için son yedekleme başarısız oldu",
    advice: "Yedeklerin diskini kontrol edin ve elle bir yedek alın. Sorunun ne olduğu Bugün sayfasında yazar.",
  },
  "update-failed": {
    title: "{subject} adlı klinik bilgisayarı güncellenemedi",
    advice: "Bilgisayar önceki sürümle çalışmaya devam ediyor. Cihazlar sayfasını açın: nedeni ve çözümü orada yazar.",
  },
  "webhook-paused": {
    title: "{subject} adresine giden webhook kendini duraklattı",
    advice: "Mesajları bekliyor. Ayarlar, Webhook'lar sayfasında nedeni yazar; program çalışınca oradan sürdürün.",
  },
  "results-refused": {
    title: "{subject} tarafından alınmayan sonuç: {count}",
    advice:
      "Ayarlar, Klinik yazılımı sayfasını açın: nedeni orada yazar. Nedeni giderin ve sonuçları yeniden gönderin.",
  },
  "results-wait": {
    title: "{subject} için bekleyen sonuç: {count}",
    advice:
      "Programın çalıştığını ve makinesinin açık olduğunu kontrol edin. Ne yanıt verdiği Ayarlar, Klinik yazılımı sayfasında yazar.",
  },
  "reagent-expired": {
    title: "{subject} cihazında son kullanma tarihi geçmiş reaktif kullanıldı: {count}",
    advice:
      "Cihazlar sayfasında cihazın günlüğünü açın: hangileri olduğu orada yazar. Yeni lot takın, kontrol çalışın ve önemli sonuçları tekrarlayın.",
  },
  "device-faults": {
    title: "{subject} üst üste arıza bildiriyor: {count}",
    advice:
      "Cihazlar sayfasında cihazın günlüğünü açın: arızalar cihazın kendi sözleriyle listelenir. Yinelenirse cihazın servisini arayın.",
  },
};
