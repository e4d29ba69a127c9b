import type { DoubleSign, FieldFault, NumberType } from "../../../../dashboard/types/animals.ts";
import { translations } from "../../../text.ts";

/** The words of a fault or a warning, by the end of its field and its code; null for a field that has none. */
export function faultText(found: readonly FieldFault[] | undefined, field: string): string | null {
  const fault = found?.find((each) => each.field === field);
  if (fault === undefined) return null;
  const kind = field.split("/")[0] === "identifiers" ? "number" : field;
  const known = [`${kind} ${fault.code}`, fault.code].find((name) => Object.hasOwn(faults, name));
  return words(known === undefined ? "invalid" : (known as keyof typeof faults));
}

const faults = {
  blank: ["Type a name.", "Bir ad yazın."],
  "owner/name blank": ["Whose phone or e-mail is it? Type the name.", "Telefon veya e-posta kimin? Adı yazın."],
  unknown_species: ["Choose the species.", "Türü seçin."],
  unknown_sex: ["Choose one of the list.", "Listeden seçin."],
  not_a_day: ["This day does not exist.", "Böyle bir gün yok."],
  out_of_range: ["This is not possible.", "Bu olamaz."],
  "date_of_birth out_of_range": [
    "A day before tomorrow is expected, not before 1950.",
    "En geç bugün, en erken 1950 olmalı.",
  ],
  "weight_kg out_of_range": [
    "A weight in kilograms is expected, such as 12.5.",
    "Kilogram olarak ağırlık yazın, örneğin 12,5.",
  ],
  lost_digits: [
    "A spreadsheet has rounded this number: read the chip again, or leave it empty.",
    "Bir hesap tablosu bu numarayı yuvarlamış: çipi yeniden okuyun ya da boş bırakın.",
  ],
  lost_zero: [
    "14 digits, and a microchip has 15: perhaps a 0 at its beginning is lost. Read it again, or leave it empty.",
    "14 hane; mikroçip 15 hanelidir, baştaki 0 düşmüş olabilir. Yeniden okuyun ya da boş bırakın.",
  ],
  wrong_form: [
    "4 to 20 digits or letters are expected. Read the chip again, or leave it empty.",
    "4-20 rakam veya harf beklenir. Çipi yeniden okuyun ya da boş bırakın.",
  ],
  unusual: [
    "A microchip has 15 digits, an older one 9 or 10. Compare it once more.",
    "Mikroçip 15, eskiler 9 veya 10 hanelidir. Bir kez daha karşılaştırın.",
  ],
  "owner/phone wrong_form": [
    "A phone number is expected, such as 0555 000 11 22.",
    "Bir telefon numarası yazın, örneğin 0555 000 11 22.",
  ],
  "owner/email wrong_form": [
    "An e-mail address is expected, such as name@example.org.",
    "Bir e-posta adresi yazın, örneğin ad@example.org.",
  ],
  unknown_zone: ["Choose a time zone of the list.", "Listeden bir saat dilimi seçin."],
  invalid: ["This value is not possible.", "Bu değer olamaz."],
} as const;

const words = translations(faults);

export const numberWord = translations({
  microchip: ["Microchip", "Mikroçip"],
  card: ["Card number", "Kart numarası"],
  tattoo: ["Tattoo", "Dövme"],
  other: ["Other number", "Başka numara"],
} as const satisfies Record<NumberType, readonly [string, string]>);

export const signText = translations({
  number: ["has the number {number}", "{number} numarası onda"],
  nameAndOwner: ["same name and owner", "aynı ad ve sahip"],
  nearNameAndOwner: ["similar name, same owner", "benzer ad, aynı sahip"],
  nameAndBirth: ["same name, species and date of birth", "aynı ad, tür ve doğum tarihi"],
} as const satisfies Record<DoubleSign, readonly [string, string]>);

export const t = translations({
  newAnimal: ["New animal", "Yeni hasta"],
  newIntro: [
    "Only the name and the species are needed. The species decides the reference ranges.",
    "Yalnızca ad ve tür gerekir. Referans aralıklarını tür belirler.",
  ],
  fromResult: ["New animal from this result", "Bu sonuçtan yeni hasta"],
  fromResultIntro: [
    "What the device said is filled in. Saving files the result to the new animal.",
    "Cihazın bildirdikleri dolduruldu. Kaydedince sonuç yeni hastaya yerleştirilir.",
  ],
  editAnimal: ["Change {name}", "{name} kaydını değiştir"],
  animal: ["Animal", "Hayvan"],
  name: ["Name", "Ad"],
  species: ["Species", "Tür"],
  chooseSpecies: ["Choose", "Seçin"],
  breed: ["Breed", "Irk"],
  sex: ["Sex", "Cinsiyet"],
  notKnown: ["Not known", "Bilinmiyor"],
  born: ["Date of birth", "Doğum tarihi"],
  weight: ["Weight in kg", "Ağırlık (kg)"],
  numbers: ["Numbers", "Numaralar"],
  number: ["Number", "Numara"],
  addNumber: ["Add:", "Ekle:"],
  owner: ["Owner", "Sahibi"],
  ownerName: ["Name of the owner", "Sahibinin adı"],
  ownerHint: ["Typing shows owners whom the clinic knows.", "Yazdıkça kliniğin tanıdığı sahipler görünür."],
  phone: ["Phone", "Telefon"],
  email: ["E-mail", "E-posta"],
  emailHint: ["For reports. No program can read it.", "Raporlar içindir. Hiçbir program okuyamaz."],
  language: ["Language of reports", "Rapor dili"],
  timeZone: ["Time zone", "Saat dilimi"],
  ofClinic: ["As the clinic", "Kliniğinki"],
  noName: ["without a name", "adsız"],
  known: ["Known owners", "Tanınan sahipler"],
  useOwner: ["Choose", "Seç"],
  also: ["also has {names}", "diğer hayvanları: {names}"],
  otherOwner: ["Another owner", "Başka sahip"],
  moreOfOwner: ["Language and time zone", "Dil ve saat dilimi"],
  alike: ["Is it one of these?", "Bunlardan biri mi?"],
  alikeWhy: ["Two entries for one animal split its history.", "Bir hayvanın iki kaydı, geçmişini böler."],
  alikeCount: ["{count} {count|animal is|animals are} alike", "{count} benzer hasta var"],
  deceased: ["deceased", "öldü"],
  bornOn: ["born {date}", "doğum {date}"],
  look: ["Look", "Bak"],
  lookAt: ["Look at {name} in a new tab", "{name} kaydına yeni sekmede bak"],
  mergeWith: ["Merge with {name} in a new tab", "{name} ile yeni sekmede birleştir"],
  merge: ["Merge", "Birleştir"],
  saved: ["Saved.", "Kaydedildi."],
  useAnimal: ["Use this animal", "Bu hastayı kullan"],
  save: ["Save", "Kaydet"],
  saveAnyway: ["Save as another animal", "Başka hasta olarak kaydet"],
  saveAndFile: ["Save and file the result", "Kaydet ve sonucu yerleştir"],
  saveAnywayAndFile: ["Save as another animal and file the result", "Başka hasta olarak kaydet ve sonucu yerleştir"],
  cancel: ["Cancel", "Vazgeç"],
  shared: [
    "Other clinics see this animal too: what you change changes for them.",
    "Bu hastayı başka klinikler de görüyor: değişiklikleriniz onlarda da görünür.",
  ],
  fromSoftware: [
    "{source} sends this animal. What you change here lasts until it sends it again.",
    "Bu hastayı {source} gönderiyor. Buradaki değişiklik, yeniden gönderene kadar kalır.",
  ],
  back: ["All patients", "Tüm hastalar"],
  backTo: ["Back to {name}", "{name} sayfasına dön"],
});
