import { translations } from "../../../text.ts";

export const t = translations({
  followUp: ["Follow-up", "Takip"],
  none: ["Nobody is responsible", "Sorumlusu yok"],
  open: ["Open", "Açık"],
  done: ["Done", "Tamamlandı"],
  responsible: ["Responsible", "Sorumlu"],
  nobody: ["Nobody", "Hiç kimse"],
  me: ["{name} (me)", "{name} (ben)"],
  take: ["I take it", "Ben ilgileniyorum"],
  remark: ["Remark", "Not"],
  remarkHint: [
    "For your colleagues. Neither the report nor the owner has it.",
    "Yalnızca ekibiniz için. Raporda ve hasta sahibinde görünmez.",
  ],
  addRemark: ["Add remark", "Not ekle"],
  markDone: ["Done", "Tamamla"],
  reopen: ["Open again", "Yeniden aç"],
  assigned: ["Assigned to {name}", "Sorumlu: {name}"],
  toNobody: ["Assigned to nobody", "Sorumlu kaldırıldı"],
  wasDone: ["Done", "Tamamlandı"],
  reopened: ["Opened again", "Yeniden açıldı"],
  worse: [
    "A new revision made {analytes} abnormal or worse: this is open until somebody finishes it",
    "Yeni bir sürümde şunlar anormal oldu veya kötüleşti: {analytes}. Biri tamamlayana kadar açık kalır",
  ],
  moved: [
    "The study went to another animal or lost its own. What is above was written before; responsible and remarks stay, and it is open until somebody finishes it",
    "Tetkik başka bir hayvana taşındı veya hayvansız kaldı. Yukarıdakiler bundan önce yazıldı; sorumlu ve notlar korunur, biri tamamlayana kadar açık kalır",
  ],
  critical: ["critical, and nobody has said that they saw it.", "kritik ve henüz kimse gördüğünü belirtmedi."],
  seen: ["I have seen it", "Gördüm"],
  seenBy: ["Critical value seen by {name}, {at}", "Kritik değeri gören: {name}, {at}"],
});
