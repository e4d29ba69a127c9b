import { translations } from "../../../../server/web/text.ts";

export const t = translations({
  codes: ["Unknown codes", "Bilinmeyen kodlar"],
  why: [
    "Devices sent these tests under names that Vetwire does not know. Their values have no range and no flag until you say which test it is.",
    "Cihazlar bu testleri Vetwire’ın bilmediği adlarla gönderdi. Hangi test olduğunu belirtene kadar değerlerinin aralığı ve bayrağı olmaz.",
  ],
  none: ["No unknown code", "Bilinmeyen kod yok"],
  noneNext: ["Every test of your devices is known.", "Cihazlarınızın tüm testleri biliniyor."],
  code: ["Code", "Kod"],
  device: ["Device", "Cihaz"],
  example: ["Last value", "Son değer"],
  results: ["Results", "Sonuç"],
  analyte: ["Analyte", "Analit"],
  map: ["Map {code}", "{code} kodunu eşle"],
  hint: ["The code of the test in Vetwire, such as GLU or ALT.", "Testin Vetwire’daki kodu, örneğin GLU veya ALT."],
  perhaps: ["Perhaps:", "Belki:"],
  line: ["The configuration gets this line at {device}:", "Yapılandırmada {device} cihazına şu satır eklenir:"],
  apply: ["Apply", "Uygula"],
  close: ["Close", "Kapat"],
  applied: [
    "Applied. New results have the analyte. Earlier ones get it when you process their message again.",
    "Uygulandı. Yeni sonuçlar bu analiti alır. Eskileri, iletilerini yeniden işlediğinizde alır.",
  ],
  again: ["Earlier messages", "Eski iletiler"],
  notApplied: ["Not applied. The agent runs on as before.", "Uygulanmadı. Aracı eskisi gibi çalışıyor."],
});
