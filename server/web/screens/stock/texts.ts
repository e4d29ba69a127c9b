import type { MovementReason } from "../../../dashboard/types/stock.ts";
import { translations } from "../../text.ts";

/** Translates a category of the API. Other categories are shown unchanged. */
export function categoryName(category: string): string {
  return Object.hasOwn(categories, category) ? named(category as keyof typeof categories) : category;
}

const categories = {
  MEDICATION: ["Medication", "İlaç"],
  VACCINE: ["Vaccine", "Aşı"],
  CONSUMABLE: ["Consumable", "Sarf malzemesi"],
  SERVICE: ["Service", "Hizmet"],
} as const;

const named = translations(categories);

/** Words of the reasons for a movement. */
export const reasonWord = translations({
  used: ["Used", "Kullanıldı"],
  expired: ["Expired", "Tarihi geçti"],
  broken: ["Broken or lost", "Kırıldı veya kayboldu"],
  returned: ["Returned to the supplier", "Tedarikçiye iade edildi"],
  received: ["Received", "Girdi"],
  counted: ["Counted", "Sayıldı"],
  imported: ["Imported", "İçe aktarıldı"],
  opening: ["Opening stock", "Açılış stoku"],
  undone: ["Undone", "Geri alındı"],
} as const satisfies Record<MovementReason, readonly [string, string]>);

export const t = translations({
  stock: ["Stock", "Stok"],
  category: ["Category", "Kategori"],
  everyCategory: ["All", "Tümü"],
  lowOnly: ["Only low stock", "Yalnızca azalanlar"],
  list: ["Items", "Ürünler"],
  item: ["Item", "Ürün"],
  onHand: ["On hand", "Eldeki"],
  unit: ["Unit", "Birim"],
  threshold: ["Low below", "Alt sınır"],
  state: ["State", "Durum"],
  low: ["Low", "Azaldı"],
  virtual: ["Without stock", "Stoksuz"],
  importList: ["Import a list", "Liste aktar"],
  none: ["No items here", "Burada ürün yok"],
  noneNext: [
    "Add an item by hand, or import the list of the clinic's own software.",
    "Elle bir ürün ekleyin ya da kliniğin kendi yazılımındaki listeyi içe aktarın.",
  ],
  newItem: ["New item", "Yeni ürün"],
  addItem: ["Add the item", "Ürünü ekle"],
  itemName: ["Name", "Ad"],
  unitHint: ["What is counted, such as vial or box", "Sayılan şey, örneğin flakon veya kutu"],
  quantityNow: ["Amount now", "Şimdiki miktar"],
  thresholdHint: [
    "A smaller amount is marked as low. 0 marks none.",
    "Daha az miktar azaldı olarak işaretlenir. 0 hiçbirini işaretlemez.",
  ],
  noneLow: ["No item is below its threshold.", "Alt sınırının altında ürün yok."],
  virtualText: [
    "This item is a fee or a service. Nothing is stocked, and using it changes no quantity.",
    "Bu bir ücret veya hizmettir. Stoğu tutulmaz, kullanımı hiçbir miktarı değiştirmez.",
  ],
  batches: ["Batches in the order of use", "Kullanım sırasıyla partiler"],
  fefo: [
    "The batch that expires first is used first. An expired batch is used only if you choose it.",
    "Son kullanma tarihi en yakın parti önce kullanılır. Tarihi geçmiş parti yalnızca seçerseniz kullanılır.",
  ],
  fifo: [
    "The oldest batch is used first. An expired batch is used only if you choose it.",
    "En eski parti önce kullanılır. Tarihi geçmiş parti yalnızca seçerseniz kullanılır.",
  ],
  lot: ["Lot", "Lot"],
  noLot: ["without a lot", "lot yok"],
  quantity: ["Quantity", "Miktar"],
  expiry: ["Expires", "Son kullanma"],
  never: ["never", "yok"],
  expired: ["expired", "tarihi geçmiş"],
  received: ["Received", "Giriş"],
  noBatches: ["No batch has stock", "Stoğu olan parti yok"],
  withoutBatch: ["without a batch", "partisiz"],
  stockIn: ["Stock in", "Stok girişi"],
  stockInLot: ["Lot (if any)", "Lot (varsa)"],
  stockInExpiry: ["Expires (if it does)", "Son kullanma (varsa)"],
  add: ["Add to stock", "Stoğa ekle"],
  stockOut: ["Stock out", "Stok çıkışı"],
  reason: ["Reason", "Neden"],
  forPatient: ["For a patient", "Bir hasta için"],
  from: ["From", "Parti"],
  inOrder: ["In the order of use, nothing expired", "Kullanım sırasıyla, tarihi geçmiş hariç"],
  take: ["Take from stock", "Stoktan düş"],
  taken: ["Taken", "Düşülen"],
  part: ["{quantity} from lot {lot}", "{lot} lotundan {quantity}"],
  partWithoutLot: ["{quantity} from a batch without a lot", "lotsuz partiden {quantity}"],
  partWithoutBatch: ["{quantity} without a batch", "partisiz stoktan {quantity}"],
  count: ["Count", "Say"],
  countTitle: ["Count: {batch}", "Sayım: {batch}"],
  countText: ["The system has {quantity}. Type what is on the shelf.", "Sistemde {quantity} var. Rafta olanı yazın."],
  countedNow: ["Counted now", "Şimdi sayılan"],
  saveCount: ["Save the count", "Sayımı kaydet"],
  movements: ["Movements", "Hareketler"],
  noMovements: ["Nothing has moved yet.", "Henüz hareket yok."],
  when: ["When", "Ne zaman"],
  what: ["What", "Ne"],
  change: ["Change", "Değişim"],
  by: ["By", "Kim"],
  byNobody: ["import", "içe aktarma"],
  ofNoBatch: ["no batch", "parti yok"],
  action: ["Action", "İşlem"],
  undo: ["Undo", "Geri al"],
  undone: ["undone", "geri alındı"],
  undoOf: ["Undo of: {what}, {when}", "Geri alma: {what}, {when}"],
  partExpires: ["expires {day}", "son kullanma {day}"],
});
