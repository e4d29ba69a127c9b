import { translations } from "../../../../server/web/text.ts";

export const t = translations({
  images: ["Images", "Görüntüler"],
  none: ["No image yet", "Henüz görüntü yok"],
  noneNext: [
    "Send an image from an X-ray, ultrasound or endoscopy device. It appears here immediately.",
    "Röntgen, ultrason veya endoskopi cihazından bir görüntü gönderin. Hemen burada görünür.",
  ],
  originals: [
    "The original images are on this PC and in the archive.",
    "Özgün görüntüler bu bilgisayarda ve arşivdedir.",
  ],
  older: [
    "The newest {count} {count|study is|studies are} shown. “vetwire agent images list” lists all images.",
    "En yeni {count} tetkik gösteriliyor. “vetwire agent images list” tüm görüntüleri listeler.",
  ],
  count: ["Images: {count}.", "Görüntü sayısı: {count}."],
  countOrMore: ["Images: {count} or more.", "Görüntü sayısı: {count} veya daha fazla."],
  removedCount: ["Removed from this PC to make room: {count}.", "Yer açmak için bu bilgisayardan silinen: {count}."],
  first: ["The first {count} are shown.", "İlk {count} görüntü gösteriliyor."],
  archive: [
    "Archive {name}: {sent} sent, {queued} waiting, {refused} refused.",
    "{name} arşivi: {sent} gönderildi, {queued} bekliyor, {refused} reddedildi.",
  ],
  refusedNext: [
    "Correct the cause, then type “vetwire agent images retry {name}”.",
    "Nedenini giderin, sonra “vetwire agent images retry {name}” yazın.",
  ],
  removed: ["Removed to make room. Look for it in the archive.", "Yer açmak için silindi. Arşivde arayın."],
  imageOf: ["Image {number} of {count}", "Görüntü {number} / {count}"],
  alt: ["Image {number} of {count}, not for diagnosis", "Görüntü {number} / {count}, tanı için değildir"],
  clip: ["Clip, {count} {count|frame|frames}", "Video, {count} kare"],
  drawing: ["The agent draws the picture.", "Aracı görüntüyü çiziyor."],
  notDrawn: ["No picture:", "Çizilemedi:"],
  notDrawnNext: ["Look at it on the device or in the archive.", "Görüntüye cihazda veya arşivde bakın."],
  "IMAGE.MEMORY": [
    "it needs more memory than the agent allows.",
    "aracının izin verdiğinden fazla bellek gerektiriyor.",
  ],
  "IMAGE.TIME": ["it takes longer than the agent allows.", "aracının izin verdiğinden uzun sürüyor."],
  "IMAGE.ENDED": ["its decoder ended.", "kod çözücüsü sonlandı."],
  setAside: [
    "Tried twice, then set aside. Open it to try again.",
    "İki kez denendi, sonra kenara ayrıldı. Yeniden denemek için açın.",
  ],
  original: ["Download the original (DICOM)", "Özgün dosyayı indir (DICOM)"],
  previous: ["Previous frame", "Önceki kare"],
  next: ["Next frame", "Sonraki kare"],
  frameOf: ["Frame {frame} of {frames}", "Kare {frame} / {frames}"],
});
