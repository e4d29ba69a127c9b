import { translations } from "../../text.ts";

export const t = translations({
  update: ["Update {count} {count|PC|PCs}", "{count} bilgisayarı güncelle"],
  available: ["Version {version} is ready.", "{version} sürümü hazır."],
  title: ["Update to version {version}", "{version} sürümüne güncelleme"],
  how: [
    "The PCs are updated one after the other, each when no device is sending. If the new version does not work on one of them, that PC goes back to its old version by itself, and the update stops there. No result is lost.",
    "Bilgisayarlar sırayla, hiçbir cihaz veri göndermiyorken güncellenir. Yeni sürüm birinde çalışmazsa o bilgisayar kendiliğinden eski sürümüne döner ve güncelleme orada durur. Hiçbir sonuç kaybolmaz.",
  ],
  help: ["Read more", "Devamını okuyun"],
  left: ["Not updated to version {version} from here:", "Buradan {version} sürümüne güncellenmeyenler:"],
  "left by hand": [
    "Install the new version on this PC by hand. After that it can be updated from here.",
    "Yeni sürümü bu bilgisayara elle kurun. Sonraki sürümler buradan yüklenebilir.",
  ],
  "left no package": [
    "There is no package of this version for this kind of PC.",
    "Bu sürümün bu tür bilgisayar için paketi yok.",
  ],
  "left rolled back": [
    "This version did not work on this PC. It takes the next one.",
    "Bu sürüm bu bilgisayarda çalışmadı. Bilgisayar bir sonraki sürümü alır.",
  ],
  "rolled back": ["Did not work on one PC", "Bir bilgisayarda çalışmadı"],
  running: ["Under way", "Sürüyor"],
  done: ["Finished", "Tamamlandı"],
  stopped: ["Stopped", "Durduruldu"],
  count: ["{done} of {all} updated.", "{all} bilgisayardan {done} tanesi güncellendi."],
  "running next": [
    "One PC after the other. You can leave this page.",
    "Bilgisayarlar sırayla güncelleniyor. Bu sayfadan ayrılabilirsiniz.",
  ],
  "done next": ["This update is through.", "Güncelleme bitti."],
  "stopped next": ["The other PCs keep their version.", "Diğer bilgisayarlar sürümlerini koruyor."],
  "rolled back next": [
    "The new version did not work on one PC, so the others keep their version.",
    "Yeni sürüm bir bilgisayarda çalışmadığı için diğerleri sürümlerini koruyor.",
  ],
  startedBy: ["Started by {by}, {ago}", "Başlatan: {by}, {ago}"],
  "pc waiting": ["Its turn comes.", "Sırasını bekliyor."],
  "pc asked": [
    "It was asked to update, and answers within about a minute.",
    "Güncellemesi istendi, yaklaşık bir dakika içinde yanıt verir.",
  ],
  "pc preparing": [
    "It fetches and checks the new version, and waits until no device is sending.",
    "Yeni sürümü indirip denetliyor ve cihazların veri göndermediği bir anı bekliyor.",
  ],
  "pc trying": ["It tries the new version for a minute.", "Yeni sürümü bir dakika deniyor."],
  "pc refused": [
    "It could not start the new version, and works on with its old one. It tries again by itself.",
    "Yeni sürüm başlatılamadı. Bilgisayar eski sürümüyle çalışıyor ve kendiliğinden yeniden deneyecek.",
  ],
  "pc silent": [
    "It is its turn, but the PC is silent. Switch it on, or skip it.",
    "Sıra onda, ancak bilgisayardan haber yok. Bilgisayarı açın veya atlayın.",
  ],
  "pc done": ["Updated.", "Güncellendi."],
  "pc rolled back": [
    "The update did not work. The PC works on with its old version.",
    "Güncelleme başarısız oldu. Bilgisayar eski sürümüyle çalışmaya devam ediyor.",
  ],
  "pc skipped": ["Skipped.", "Atlandı."],
  "pc kept": ["Keeps its version.", "Sürümünü koruyor."],
  reason: ["Reason:", "Neden:"],
  "refused pcNext": [
    "If the reason names something on the PC, such as a full disk, put it right. The PC tries again after 10 minutes, then less often. Skip it to go on with the next PC, or stop the update and start it again a minute later to try at once.",
    "Neden bilgisayarla ilgiliyse (örneğin disk doluysa) giderin. Bilgisayar 10 dakika sonra, ardından daha seyrek yeniden dener. Sıradakine geçmek için atlayın; hemen denemek için güncellemeyi durdurup bir dakika sonra yeniden başlatın.",
  ],
  "rolled back pcNext": [
    "Its devices go on, and no result is lost. If the reason names something on the PC, such as a full disk, put it right and start the update again. Otherwise wait for the next version.",
    "Cihazları çalışmaya devam ediyor, hiçbir sonuç kaybolmadı. Neden bilgisayarla ilgiliyse (örneğin disk doluysa) giderin ve güncellemeyi yeniden başlatın. Değilse bir sonraki sürümü bekleyin.",
  ],
  skip: ["Skip {name}", "{name} atla"],
  stop: ["Stop the update", "Güncellemeyi durdur"],
  close: ["Put away", "Kaldır"],
  "failed rolled back": [
    "The update of this PC to version {version} did not work: {reason}",
    "Bu bilgisayarın {version} sürümüne güncellenmesi başarısız oldu: {reason}",
  ],
  "failed refused": [
    "The update of this PC to version {version} could not start: {reason}",
    "Bu bilgisayarın {version} sürümüne güncellenmesi başlatılamadı: {reason}",
  ],
});
