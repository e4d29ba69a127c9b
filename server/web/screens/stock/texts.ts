import { locale, texts } from "../../text.ts";

/** Translates a category of the API. Other categories are shown unchanged. */
export function categoryName(category: string): string {
  return Object.hasOwn(categories, category) ? named(category as keyof typeof categories) : category;
}

const categories = { MEDICATION: "Medication", VACCINE: "Vaccine", CONSUMABLE: "Consumable", SERVICE: "Service" };

const named = texts(categories, {
  MEDICATION: "İlaç",
  VACCINE: "Aşı",
  CONSUMABLE: "Sarf malzemesi",
  SERVICE: "Hizmet",
});

/** Prints a day without a time, such as an expiry date. It has no zone. */
export function dayName(day: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeZone: "UTC" }).format(new Date(day));
}

export const t = texts(
  {
    stock: "Stock",
    category: "Category",
    everyCategory: "All",
    lowOnly: "Only low stock",
    list: "Items",
    item: "Item",
    onHand: "On hand",
    unit: "Unit",
    threshold: "Low below",
    state: "State",
    low: "Low",
    virtual: "Without stock",
    none: "No items here",
    noneNext: "Items come from the import of the clinic's own software.",
    noneLow: "No item is below its threshold.",
    virtualText: "This item is a fee or a service. Nothing is stocked, and using it changes no quantity.",
    batches: "Batches in the order of use",
    fefo: "The batch that expires first is used first. An expired batch is used only if you choose it.",
    fifo: "The oldest batch is used first. An expired batch is used only if you choose it.",
    lot: "Lot",
    noLot: "without a lot",
    quantity: "Quantity",
    expiry: "Expires",
    never: "never",
    expired: "expired",
    received: "Received",
    noBatches: "No batch has stock",
    withoutBatch: "without a batch",
    stockIn: "Stock in",
    stockInLot: "Lot (if any)",
    stockInExpiry: "Expires (if it does)",
    add: "Add to stock",
    use: "Use",
    from: "From",
    inOrder: "In the order of use, nothing expired",
    take: "Take from stock",
    taken: "Taken",
    part: "{quantity} from lot {lot}",
    partWithoutLot: "{quantity} from a batch without a lot",
    partWithoutBatch: "{quantity} without a batch",
    partExpires: "expires {day}",
  },
  {
    stock: "Stok",
    category: "Kategori",
    everyCategory: "Tümü",
    lowOnly: "Yalnızca azalanlar",
    list: "Ürünler",
    item: "Ürün",
    onHand: "Eldeki",
    unit: "Birim",
    threshold: "Alt sınır",
    state: "Durum",
    low: "Azaldı",
    virtual: "Stoksuz",
    none: "Burada ürün yok",
    noneNext: "Ürünler kliniğin kendi yazılımından içe aktarılır.",
    noneLow: "Alt sınırının altında ürün yok.",
    virtualText: "Bu bir ücret veya hizmettir. Stoğu tutulmaz, kullanımı hiçbir miktarı değiştirmez.",
    batches: "Kullanım sırasıyla partiler",
    fefo: "Son kullanma tarihi en yakın parti önce kullanılır. Tarihi geçmiş parti yalnızca seçerseniz kullanılır.",
    fifo: "En eski parti önce kullanılır. Tarihi geçmiş parti yalnızca seçerseniz kullanılır.",
    lot: "Lot",
    noLot: "lot yok",
    quantity: "Miktar",
    expiry: "Son kullanma",
    never: "yok",
    expired: "tarihi geçmiş",
    received: "Giriş",
    noBatches: "Stoğu olan parti yok",
    withoutBatch: "partisiz",
    stockIn: "Stok girişi",
    stockInLot: "Lot (varsa)",
    stockInExpiry: "Son kullanma (varsa)",
    add: "Stoğa ekle",
    use: "Kullanım",
    from: "Parti",
    inOrder: "Kullanım sırasıyla, tarihi geçmiş hariç",
    take: "Stoktan düş",
    taken: "Düşülen",
    part: "{lot} lotundan {quantity}",
    partWithoutLot: "lotsuz partiden {quantity}",
    partWithoutBatch: "partisiz stoktan {quantity}",
    partExpires: "son kullanma {day}",
  },
);
