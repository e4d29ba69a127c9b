import { translations } from "../../../text.ts";

export const t = translations({
  title: ["Why these intervals", "Neden bu aralıklar"],
  none: ["No interval: {reason}", "Aralık yok: {reason}"],
  unknown: ["A row that this server does not know: {id}", "Bu sunucunun bilmediği bir satır: {id}"],
  source: ["source {number}", "kaynak {number}"],
  reference_interval: ["reference interval", "referans aralığı"],
  published_range: ["published range", "yayımlanmış aralık"],
  observed_range: ["lowest and highest observed value", "gözlenen en düşük ve en yüksek değer"],
  decision_limit: ["decision limit", "karar sınırı"],
  device_default: ["the maker's interval of a device", "cihaz üreticisinin aralığı"],
  animals: ["animals: {n}", "hayvan sayısı: {n}"],
  grade: ["grade {grade}", "derece {grade}"],
  inForce: ["in force from {day}", "{day} tarihinden beri geçerli"],
  acceptedBy: ["accepted by {name}", "kabul eden: {name}"],
});
