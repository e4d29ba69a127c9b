import { translations } from "../../../text.ts";

export const t = translations({
  images: ["Images", "Görüntüler"],
  originals: [
    "The original images are on the clinic PC or in the PACS.",
    "Özgün görüntüler klinik bilgisayarında veya PACS'tedir.",
  ],
  imageOf: ["Image {number} of {count}", "Görüntü {number} / {count}"],
  alt: ["Image {number} of {count}, not for diagnosis", "Görüntü {number} / {count}, tanı için değildir"],
  frameOf: ["Picture {frame} of {frames} of the clip", "Videonun görüntüsü {frame} / {frames}"],
  previousFrame: ["Previous frame", "Önceki kare"],
  nextFrame: ["Next frame", "Sonraki kare"],
  clip: ["Clip", "Video"],
});
