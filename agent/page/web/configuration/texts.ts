import { translations } from "../../../../server/web/text.ts";

export const t = translations({
  configuration: ["Configuration", "Yapılandırma"],
  file: [
    "The text of {file}. It is checked while you type, and nothing changes before you press “Apply”.",
    "{file} dosyasının metni. Yazarken denetlenir; “Uygula” düğmesine basmadan hiçbir şey değişmez.",
  ],
  notSetUp: ["This agent has no configuration yet", "Bu aracının henüz yapılandırması yok"],
  setUp: ["Set this agent up", "Bu aracıyı kur"],
  text: ["Text of the configuration", "Yapılandırmanın metni"],
  checking: ["Checking", "Denetleniyor"],
  good: ["No fault", "Hata yok"],
  faults: ["{count} {count|fault|faults}", "{count} hata"],
  line: ["Line {line}", "{line}. satır"],
  difference: ["Your change", "Değişikliğiniz"],
  noDifference: ["The text is the running one.", "Bu metin şu anda çalışan metin."],
  apply: ["Apply", "Uygula"],
  applying: ["The agent starts anew. This takes some seconds.", "Aracı yeniden başlıyor. Birkaç saniye sürer."],
  previous: ["Back to the previous text", "Önceki metne dön"],
  running: ["Back to the running text", "Çalışan metne dön"],
  applied: ["Applied. The agent runs with this text.", "Uygulandı. Aracı bu metinle çalışıyor."],
  refused: [
    "Not applied. The agent runs on as before. Correct these faults:",
    "Uygulanmadı. Aracı eskisi gibi çalışıyor. Şu hataları düzeltin:",
  ],
  "rolled back": [
    "The agent did not start with this text, so it runs with the earlier one again. The reason:",
    "Aracı bu metinle başlamadı, bu yüzden yeniden önceki metinle çalışıyor. Neden:",
  ],
  otherText: ["The file has changed meanwhile.", "Dosya bu arada değişti."],
  loadOther: ["Load it, and lose your change", "Yükle ve değişikliğimi bırak"],
});
