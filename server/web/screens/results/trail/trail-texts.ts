import { translations } from "../../../text.ts";

export const t = translations({
  print: ["Print", "Yazdır"],
  proof: ["Proof of delivery", "Teslim kanıtı"],
  proofWhy: [
    "Every step from the device to those who were told and those who read it. A program that acknowledged a message has it; whether it is in its chart, only that program knows.",
    "Cihazdan haber verilenlere ve okuyanlara kadar her adım. Bir iletiyi onaylayan program onu almıştır; kendi dosyasına koyup koymadığını yalnızca o program bilir.",
  ],
  step: ["Step", "Adım"],
  time: ["Time", "Zaman"],
  clock: ["Clock", "Saat"],
  clockDevice: ["device", "cihaz"],
  clockAgent: ["agent", "ajan"],
  clockServer: ["server", "sunucu"],
  gaps: ["Not shown by anything", "Hiçbir şeyin göstermediği"],
  gapNoReceipt: [
    "Revision {revision}: the agent did not tell of the bytes",
    "{revision}. sürüm: ajan baytları bildirmedi",
  ],
  gapRevision: ["Revision {revision} is not stored", "{revision}. sürüm kayıtlı değil"],
  gapClocks: ["Revision {revision}: the agent's clock was ahead", "{revision}. sürüm: ajanın saati ileriydi"],
  gapNoEnd: ["Attempt {attempt}: nothing shows how it ended", "{attempt}. deneme: nasıl bittiği bilinmiyor"],
  noGaps: ["No gap: every step has its proof.", "Boşluk yok: her adımın kanıtı var."],
});
