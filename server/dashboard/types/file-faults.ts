import type { Language } from "../../../shared/api/language.ts";

// The words for what is wrong with a file and its lines, and what to do about it: for the page and the command.

interface Words {
  readonly what: string;
  readonly remedy: string;
}

const SAVE_AGAIN = {
  en: "Open the file in a spreadsheet and save it as .xlsx or as CSV.",
  tr: "Dosyayı bir hesap tablosunda açıp .xlsx veya CSV olarak kaydedin.",
};
const CORRECT = { en: "Correct the cell in your file.", tr: "Dosyanızda hücreyi düzeltin." };
const AS_TEXT = {
  en: "Format the column as text in your practice software or spreadsheet, and export again.",
  tr: "Sütunu klinik yazılımınızda veya hesap tablosunda metin olarak biçimlendirip yeniden dışa aktarın.",
};
const QUOTE = {
  en: "Double each quote inside a text, or export the file again as .xlsx.",
  tr: "Metin içindeki her tırnağı çift yazın veya dosyayı .xlsx olarak yeniden dışa aktarın.",
};

/** `{value}` is the value or the other line. Each row: what and remedy in English, what and remedy in Turkish. */
const TABLE: Readonly<Record<string, readonly [string, string, string, string]>> = {
  empty_file: ["The file is empty", SAVE_AGAIN.en, "Dosya boş", SAVE_AGAIN.tr],
  not_a_table: [
    "The file is not a CSV or Excel table",
    SAVE_AGAIN.en,
    "Dosya bir CSV veya Excel tablosu değil",
    SAVE_AGAIN.tr,
  ],
  old_excel: [
    "The file is an old Excel file (.xls), or has a password",
    "Save it as .xlsx without a password.",
    "Dosya eski bir Excel dosyası (.xls) veya parolalı",
    "Parolasız .xlsx olarak kaydedin.",
  ],
  not_xlsx: [
    "The file is an archive without an Excel table",
    SAVE_AGAIN.en,
    "Dosya, içinde Excel tablosu olmayan bir arşiv",
    SAVE_AGAIN.tr,
  ],
  damaged_xlsx: ["The Excel file is damaged", SAVE_AGAIN.en, "Excel dosyası bozuk", SAVE_AGAIN.tr],
  too_large: [
    "The file is larger than 50 MB",
    "Split it into several files.",
    "Dosya 50 MB'tan büyük",
    "Dosyayı bölün.",
  ],
  unpacks_too_large: [
    "The Excel file unpacks to more than 200 MB",
    "Save the list alone, as CSV.",
    "Excel dosyası açıldığında 200 MB'ı aşıyor",
    "Yalnızca listeyi CSV olarak kaydedin.",
  ],
  too_complex: [
    "The file needs too much time or memory",
    "Save the list alone, as CSV.",
    "Dosya çok fazla zaman veya bellek gerektiriyor",
    "Yalnızca listeyi CSV olarak kaydedin.",
  ],
  too_many_rows: [
    "The file has {value} lines, at most 100000",
    "Split it into several files.",
    "Dosyada {value} satır var, en çok 100000",
    "Dosyayı bölün.",
  ],
  too_many_columns: [
    "The file has {value} columns, at most 200",
    "Export the needed columns alone.",
    "Dosyada {value} sütun var, en çok 200",
    "Yalnızca gerekli sütunları dışa aktarın.",
  ],
  no_rows: [
    "The file has no line below its header",
    "Export the list again, with its lines.",
    "Dosyada başlığın altında satır yok",
    "Listeyi satırlarıyla yeniden dışa aktarın.",
  ],
  quote_open: ["A quote opens and never closes", QUOTE.en, "Bir tırnak açılıyor ve kapanmıyor", QUOTE.tr],
  quote_inside: ["A quote closes inside a cell", QUOTE.en, "Bir tırnak hücrenin içinde kapanıyor", QUOTE.tr],
  quote_misplaced: ["A quote is in the middle of a cell", QUOTE.en, "Bir hücrenin ortasında tırnak var", QUOTE.tr],
  quote_swallows: [
    "A quote opens, and the cell takes in the lines after it",
    QUOTE.en,
    "Bir tırnak açılıyor ve hücre sonraki satırları içine alıyor",
    QUOTE.tr,
  ],
  not_csv: ["The line is not CSV", SAVE_AGAIN.en, "Satır CSV değil", SAVE_AGAIN.tr],
  too_many_cells: [
    "The line has more cells than the header ({value})",
    "A separator inside a text needs quotes around the text.",
    "Satırda başlıktan çok hücre var ({value})",
    "İçinde ayırıcı olan metni tırnak içine alın.",
  ],
  too_few_cells: [
    "The line has fewer cells than the header ({value})",
    "A line break inside a text needs quotes around the text.",
    "Satırda başlıktan az hücre var ({value})",
    "İçinde satır sonu olan metni tırnak içine alın.",
  ],
  missing: ["is missing", "Fill the cell in your file.", "eksik", "Dosyanızda hücreyi doldurun."],
  too_long: ["is too long: “{value}”", CORRECT.en, "çok uzun: “{value}”", CORRECT.tr],
  bad_text: ["has characters that cannot be stored", CORRECT.en, "saklanamayan karakterler içeriyor", CORRECT.tr],
  unknown_species: [
    "“{value}” is not known",
    "Write a word such as dog, cat, rabbit, bird, horse or exotic.",
    "“{value}” bilinmiyor",
    "Köpek, kedi, tavşan, kuş, at veya egzotik gibi bir sözcük yazın.",
  ],
  unknown_sex: [
    "“{value}” is not known",
    "Write male, female, male neutered or female spayed, or leave it empty.",
    "“{value}” bilinmiyor",
    "Erkek, dişi, kısır erkek veya kısır dişi yazın ya da boş bırakın.",
  ],
  unknown_neutered: ["“{value}” is not yes or no", CORRECT.en, "“{value}” evet ya da hayır değil", CORRECT.tr],
  not_yes_or_no: ["“{value}” is not yes or no", CORRECT.en, "“{value}” evet ya da hayır değil", CORRECT.tr],
  sex_contradiction: [
    "“{value}” contradicts the sex, which says neutered",
    CORRECT.en,
    "“{value}”, kısır olduğunu belirten cinsiyetle çelişiyor",
    CORRECT.tr,
  ],
  not_a_date: ["“{value}” is not a day that exists", CORRECT.en, "“{value}” var olan bir gün değil", CORRECT.tr],
  not_a_day: ["“{value}” is not a day that exists", CORRECT.en, "“{value}” var olan bir gün değil", CORRECT.tr],
  not_a_time: ["“{value}” is not a day that exists", CORRECT.en, "“{value}” var olan bir gün değil", CORRECT.tr],
  is_age: [
    "“{value}” is an age, which changes",
    "Export the date of birth, or leave it empty.",
    "“{value}” bir yaş; yaş değişir",
    "Doğum tarihini dışa aktarın veya boş bırakın.",
  ],
  other_date_order: [
    "“{value}” has day and month in another order than the file",
    CORRECT.en,
    "“{value}” tarihinde gün ve ay sırası dosyanınkinden farklı",
    CORRECT.tr,
  ],
  in_the_future: ["“{value}” is in the future", CORRECT.en, "“{value}” gelecekte", CORRECT.tr],
  out_of_range: ["“{value}” is not possible", CORRECT.en, "“{value}” olası değil", CORRECT.tr],
  not_a_weight: ["“{value}” is not a weight", CORRECT.en, "“{value}” bir ağırlık değil", CORRECT.tr],
  no_unit: [
    "“{value}” has no unit",
    "Choose the unit of the weights.",
    "“{value}” birimsiz",
    "Ağırlıkların birimini seçin.",
  ],
  lost_digits: [
    "lost its digits in a spreadsheet: {value}",
    AS_TEXT.en,
    "hesap tablosunda rakamlarını yitirdi: {value}",
    AS_TEXT.tr,
  ],
  lost_zero: [
    "“{value}” has 14 digits: did it lose a 0 at its start?",
    `Read the chip again, and write 15 digits. ${AS_TEXT.en}`,
    "“{value}” 14 rakamlı: başındaki 0 kaybolmuş olabilir mi?",
    `Çipi yeniden okuyun ve 15 rakam yazın. ${AS_TEXT.tr}`,
  ],
  wrong_form: ["“{value}” is not a number of a chip", CORRECT.en, "“{value}” bir çip numarası değil", CORRECT.tr],
  same_number: [
    "is also in line {value}, with other values",
    "Give each animal its own number.",
    "{value}. satırda da var, başka değerlerle",
    "Her hayvana kendi numarasını verin.",
  ],
  same_animal: [
    "line {value} has the same owner, name and species",
    "Add a column with the number of the animal.",
    "{value}. satırda aynı sahip, ad ve tür var",
    "Hayvan numarasının olduğu bir sütun ekleyin.",
  ],
  same_chip: [
    "is also in line {value}, of another animal",
    "Read the chip again, and correct one of the lines.",
    "{value}. satırda, başka bir hayvanda da var",
    "Çipi yeniden okuyup satırlardan birini düzeltin.",
  ],
  owner_taken: [
    "is the number of an owner with another name and other contacts",
    "If it is another person, give a number of its own. If it is the same one, correct the owner under Patients first.",
    "adı ve iletişim bilgileri farklı bir sahibin numarası",
    "Başka bir kişiyse kendi numarasını verin. Aynı kişiyse önce Hastalar ekranında sahibi düzeltin.",
  ],
  number_taken: [
    "is the number of {value}, which has another name and another species, owner or birth",
    "If it is another animal, give it a number of its own. If it is the same one, correct it under Patients first.",
    "{value} adlı hayvanın numarası; adı ve ayrıca türü, sahibi ya da doğum tarihi farklı",
    "Başka bir hayvansa ona kendi numarasını verin. Aynı hayvansa önce Hastalar ekranında düzeltin.",
  ],
  chip_taken: [
    "{value} is the chip of another animal of this clinic",
    "Find it under Patients by the chip, and correct one of the two.",
    "{value} bu klinikte başka bir hayvanın çipi",
    "Hastalar ekranında çiple arayıp ikisinden birini düzeltin.",
  ],
};

/** `{value}` is the value or the other line, in a list of stock. */
const STOCK_TABLE: typeof TABLE = {
  unknown_category: [
    "“{value}” is not known",
    "Write medication, vaccine, consumable or service.",
    "“{value}” bilinmiyor",
    "İlaç, aşı, sarf malzemesi veya hizmet yazın.",
  ],
  not_a_count: [
    "“{value}” is not a whole number",
    "Write digits alone, without a unit and without a mark between thousands.",
    "“{value}” bir tam sayı değil",
    "Yalnızca rakam yazın; birim ve binlik ayırıcı kullanmayın.",
  ],
  same_item: [
    "is also in line {value}, with other values",
    "Give each item its own name, and each of its lots a line with a lot number.",
    "{value}. satırda da var, başka değerlerle",
    "Her ürüne kendi adını, her partisine parti numarası olan bir satır verin.",
  ],
  name_taken: [
    "“{value}” is the name of an item with another number",
    "Find it under Stock, and correct the name or the number in your file.",
    "“{value}”, numarası başka olan bir ürünün adı",
    "Stok ekranında bulun ve dosyanızda adı veya numarayı düzeltin.",
  ],
  service_or_stock: [
    "“{value}”: an item with stock does not become a service, nor a service an item with stock",
    "Give the item another name in your file.",
    "“{value}”: stoğu olan ürün hizmete, hizmet stoklu ürüne dönüşmez",
    "Dosyanızda ürüne başka bir ad verin.",
  ],
};

const OTHER = ["“{value}” is not accepted", CORRECT.en, "“{value}” kabul edilmedi", CORRECT.tr] as const;

/** @returns what is wrong, and what to do about it, in the language */
export function faultWords(
  { code, value }: { readonly code: string; readonly value: string },
  language: Language,
): Words {
  const [what, remedy, whatTurkish, remedyTurkish] = TABLE[code] ?? STOCK_TABLE[code] ?? OTHER;
  const words = language === "en" ? { what, remedy } : { what: whatTurkish, remedy: remedyTurkish };
  return { ...words, what: words.what.replace("{value}", () => value) };
}

/** The names of the fields of a line, in English and Turkish. */
const FIELDS: Readonly<Record<string, readonly [string, string]>> = {
  id: ["Number of the animal", "Hayvanın numarası"],
  name: ["Name of the animal", "Hayvanın adı"],
  species: ["Species", "Tür"],
  breed: ["Breed", "Irk"],
  sex: ["Sex", "Cinsiyet"],
  neutered: ["Neutered", "Kısırlaştırılmış"],
  birth: ["Date of birth", "Doğum tarihi"],
  death: ["Date of death", "Ölüm tarihi"],
  deceased: ["Deceased", "Öldü"],
  weight: ["Weight", "Ağırlık"],
  weight_unit: ["Unit of the weight", "Ağırlık birimi"],
  microchip: ["Microchip", "Mikroçip"],
  card: ["Card number", "Kart numarası"],
  tattoo: ["Tattoo", "Dövme"],
  owner_id: ["Number of the owner", "Sahibin numarası"],
  owner: ["Owner", "Sahibi"],
  owner_first: ["First name of the owner", "Sahibin adı"],
  owner_last: ["Last name of the owner", "Sahibin soyadı"],
  phone: ["Phone", "Telefon"],
  email: ["E-mail", "E-posta"],
  item: ["Name of the item", "Ürünün adı"],
  sku: ["Number of the item", "Ürünün numarası"],
  category: ["Category", "Kategori"],
  stock_unit: ["Unit of stock", "Stok birimi"],
  threshold: ["Low stock below", "Az stok sınırı"],
  quantity: ["Quantity", "Miktar"],
  lot: ["Lot", "Parti"],
  expiry: ["Expiry date", "Son kullanma tarihi"],
  date_of_birth: ["Date of birth", "Doğum tarihi"],
  weight_kg: ["Weight", "Ağırlık"],
  precise_species: ["Species", "Tür"],
  deceased_at: ["Deceased", "Öldü"],
  identifiers: ["Numbers", "Numaralar"],
};

/** @returns the name of a field of a line; empty for the line itself */
export function fieldWord(field: string, language: Language): string {
  const [english, turkish] = FIELDS[field] ?? ["", ""];
  return language === "en" ? english : turkish;
}
