import type { OrderState } from "../../../dashboard/types/orders.ts";
import { translations, type Words } from "../../text.ts";

export const stateName = translations({
  ordered: ["Ordered", "İstendi"],
  offered: ["The device has it", "Cihaz aldı"],
  "in progress": ["Running", "Çalışılıyor"],
  resulted: ["Results in", "Sonuç geldi"],
  cancelled: ["Cancelled", "İptal edildi"],
  "not run": ["Not run for 2 hours", "2 saattir çalışılmadı"],
  "without order": ["Run without order", "İstemsiz çalışıldı"],
} satisfies Words<OrderState>);

export const t = translations({
  orders: ["Orders", "İstemler"],
  order: ["Order tests", "Test iste"],
  orderFor: ["Order tests: {name}", "Test iste: {name}"],
  open: ["Open", "Açık"],
  done: ["Done", "Biten"],
  cancelledOnes: ["Cancelled", "İptal edilen"],
  shown: ["Shown orders", "Gösterilen istemler"],
  none: ["No orders here", "Burada istem yok"],
  noneNext: [
    "“Order tests” gives a sample its number. The analyzer gets the order, and the result its animal.",
    "“Test iste” numuneye numarasını verir. Cihaz istemi, sonuç da hayvanını böyle bulur.",
  ],
  ordered: ["Ordered", "İstendi"],
  animal: ["Animal", "Hayvan"],
  tests: ["Tests", "Testler"],
  sample: ["Sample", "Numune"],
  state: ["State", "Durum"],
  next: ["Next step", "Sonraki adım"],
  anyDevice: ["any device", "herhangi bir cihaz"],
  by: ["by {name}", "isteyen: {name}"],
  missing: ["still without a result: {tests}", "henüz sonucu yok: {tests}"],
  label: ["Label", "Etiket"],
  result: ["Result", "Sonuç"],
  cancel: ["Cancel order", "İstemi iptal et"],
  cancelTitle: ["Cancel the order {accession}?", "{accession} istemi iptal edilsin mi?"],
  cancelText: [
    "Devices get it no more. A result that comes all the same is kept with {name}.",
    "Cihazlar istemi artık almaz. Yine de gelen bir sonuç {name} hastasında kalır.",
  ],
  withoutOrder: ["Run without order", "İstemsiz çalışılanlar"],
  withoutOrderWhy: [
    "Results of the last two days that answer no order. Attach the order whose number is on the tube.",
    "Son iki günün istemi olmayan sonuçları. Numarası tüpte yazan istemi bağlayın.",
  ],
  measured: ["Measured", "Ölçüm"],
  device: ["Device", "Cihaz"],
  attach: ["Attach order", "İstem bağla"],
  attachTitle: ["Which order do these results of {name} answer?", "{name} hastasının bu sonuçları hangi istemin?"],
  attachNone: ["{name} has no order without results.", "{name} hastasının sonucu olmayan istemi yok."],
  detach: ["Detach results", "Sonuçları ayır"],
  detachTitle: ["Detach the results from {accession}?", "Sonuçlar {accession} isteminden ayrılsın mı?"],
  detachText: [
    "The results stay with the animal, and the order is open again.",
    "Sonuçlar hayvanda kalır, istem yeniden açılır.",
  ],
  choose: ["Order", "İstem"],
  panel: ["Panel", "Panel"],
  noPanel: ["Own choice", "Kendim seçeceğim"],
  testsHint: [
    "Codes or names of analytes, separated by commas: ALT, CREA.",
    "Analit kodları veya adları, virgülle ayrılmış: ALT, CREA.",
  ],
  testsHintDevice: [
    "Analytes such as ALT, CREA, or names that this device knows.",
    "ALT, CREA gibi analitler veya bu cihazın bildiği adlar.",
  ],
  noTests: ["Name at least one test.", "En az bir test yazın."],
  unknownTest: [
    "“{test}” is not an analyte. Look at its name, or choose the device that knows it.",
    "“{test}” bir analit değil. Adını denetleyin veya onu bilen cihazı seçin.",
  ],
  badTest: [
    "“{test}” has a character that devices do not take.",
    "“{test}” cihazların almadığı bir karakter içeriyor.",
  ],
  deviceHint: [
    "An order for any device goes to each analyzer that asks for it.",
    "Herhangi bir cihaz için istem, onu soran her analizöre gider.",
  ],
  any: ["Any device that asks", "Soran herhangi bir cihaz"],
  panelName: ["Save as panel", "Panel olarak kaydet"],
  panelNameHint: [
    "Optional: a name under which these tests are offered next time.",
    "İsteğe bağlı: bu testlerin bir dahaki sefere sunulacağı ad.",
  ],
  place: ["Order", "İste"],
  back: ["Back", "Geri"],
  labelTitle: ["Sample {accession}", "Numune {accession}"],
  labelText: [
    "Write this number on the tube or print the label. Scan or type it at the analyzer.",
    "Bu numarayı tüpe yazın veya etiketi basın. Cihazda okutun ya da yazın.",
  ],
  barcode: ["Barcode {accession}", "Barkod {accession}"],
  print: ["Print label", "Etiketi bas"],
});
