import type { AnimalRefusal, DoubleSign, FieldFault, NumberType } from "../../../../dashboard/types/animals.ts";
import { texts } from "../../../text.ts";

/** The words of a fault or a warning, by the end of its field and its code; null for a field that has none. */
export function faultText(found: readonly FieldFault[] | undefined, field: string): string | null {
  const fault = found?.find((each) => each.field === field);
  if (fault === undefined) return null;
  const kind = field.split("/")[0] === "identifiers" ? "number" : field;
  const known = [`${kind} ${fault.code}`, fault.code].find((name) => Object.hasOwn(faults, name));
  return words(known === undefined ? "invalid" : (known as keyof typeof faults));
}

const faults = {
  blank: "Type a name.",
  "owner/name blank": "Whose phone or e-mail is it? Type the name.",
  unknown_species: "Choose the species.",
  unknown_sex: "Choose one of the list.",
  not_a_day: "This day does not exist.",
  out_of_range: "This is not possible.",
  "date_of_birth out_of_range": "A day before tomorrow is expected, not before 1950.",
  "weight_kg out_of_range": "A weight in kilograms is expected, such as 12.5.",
  lost_digits: "A spreadsheet has rounded this number: read the chip again, or leave it empty.",
  lost_zero:
    "14 digits, and a microchip has 15: perhaps a 0 at its beginning is lost. Read it again, or leave it empty.",
  wrong_form: "4 to 20 digits or letters are expected. Read the chip again, or leave it empty.",
  unusual: "A microchip has 15 digits, an older one 9 or 10. Compare it once more.",
  "owner/phone wrong_form": "A phone number is expected, such as 0555 000 11 22.",
  "owner/email wrong_form": "An e-mail address is expected, such as name@example.org.",
  unknown_zone: "Choose a time zone of the list.",
  invalid: "This value is not possible.",
} as const;

const words = texts(faults, {
  blank: "Bir ad yazın.",
  "owner/name blank": "Telefon veya e-posta kimin? Adı yazın.",
  unknown_species: "Türü seçin.",
  unknown_sex: "Listeden seçin.",
  not_a_day: "Böyle bir gün yok.",
  out_of_range: "Bu olamaz.",
  "date_of_birth out_of_range": "En geç bugün, en erken 1950 olmalı.",
  "weight_kg out_of_range": "Kilogram olarak ağırlık yazın, örneğin 12,5.",
  lost_digits: "Bir hesap tablosu bu numarayı yuvarlamış: çipi yeniden okuyun ya da boş bırakın.",
  lost_zero: "14 hane; mikroçip 15 hanelidir, baştaki 0 düşmüş olabilir. Yeniden okuyun ya da boş bırakın.",
  wrong_form: "4-20 rakam veya harf beklenir. Çipi yeniden okuyun ya da boş bırakın.",
  unusual: "Mikroçip 15, eskiler 9 veya 10 hanelidir. Bir kez daha karşılaştırın.",
  "owner/phone wrong_form": "Bir telefon numarası yazın, örneğin 0555 000 11 22.",
  "owner/email wrong_form": "Bir e-posta adresi yazın, örneğin ad@example.org.",
  unknown_zone: "Listeden bir saat dilimi seçin.",
  invalid: "Bu değer olamaz.",
});

/** The words of a reason for which a write changed nothing; undefined for one of another kind. */
export function refusalText(reason: string | null): string | undefined {
  return reason !== null && Object.hasOwn(refusals, reason) ? refused(reason as AnimalRefusal) : undefined;
}

const refusals: Record<AnimalRefusal, string> = {
  "PATIENT.CHANGED": "Somebody changed this animal while you typed. Load the page again.",
  "PATIENT.ALIKE": "Somebody added an animal that is alike while you typed. Look at it, then save again.",
  "PATIENT.SHARED":
    "Other clinics see this animal too, so that nobody removes it. Close the connection of this clinic instead.",
  "OWNER.CHANGED": "Somebody changed this owner while you typed. Load the page again.",
  "ANIMAL.FAULTS": "A value is missing or not possible.",
};

const refused = texts(refusals, {
  "PATIENT.CHANGED": "Siz yazarken başka biri bu hastayı değiştirdi. Sayfayı yeniden yükleyin.",
  "PATIENT.ALIKE": "Siz yazarken benzer bir hasta eklendi. Ona bakın, sonra yeniden kaydedin.",
  "PATIENT.SHARED": "Bu hastayı başka klinikler de görüyor, bu yüzden silinmez. Kliniğinizin bağlantısını kapatın.",
  "OWNER.CHANGED": "Siz yazarken başka biri bu sahibi değiştirdi. Sayfayı yeniden yükleyin.",
  "ANIMAL.FAULTS": "Bir değer eksik veya olanaksız.",
});

const numbers: Record<NumberType, string> = {
  microchip: "Microchip",
  card: "Card number",
  tattoo: "Tattoo",
  other: "Other number",
};

export const numberWord = texts(numbers, {
  microchip: "Mikroçip",
  card: "Kart numarası",
  tattoo: "Dövme",
  other: "Başka numara",
});

const signs = {
  number: "has the number {number}",
  nameAndOwner: "same name and owner",
  nearNameAndOwner: "similar name, same owner",
  nameAndBirth: "same name, species and date of birth",
} as const satisfies Record<DoubleSign, string>;

export const signText = texts(signs, {
  number: "{number} numarası onda",
  nameAndOwner: "aynı ad ve sahip",
  nearNameAndOwner: "benzer ad, aynı sahip",
  nameAndBirth: "aynı ad, tür ve doğum tarihi",
});

export const t = texts(
  {
    newAnimal: "New animal",
    newIntro: "Only the name and the species are needed. The species decides the reference ranges.",
    fromResult: "New animal from this result",
    fromResultIntro: "What the device said is filled in. Saving files the result to the new animal.",
    editAnimal: "Change {name}",
    animal: "Animal",
    name: "Name",
    species: "Species",
    chooseSpecies: "Choose",
    breed: "Breed",
    sex: "Sex",
    notKnown: "Not known",
    born: "Date of birth",
    weight: "Weight in kg",
    numbers: "Numbers",
    number: "Number",
    addNumber: "Add:",
    owner: "Owner",
    ownerName: "Name of the owner",
    ownerHint: "Typing shows owners whom the clinic knows.",
    phone: "Phone",
    email: "E-mail",
    emailHint: "For reports. No program can read it.",
    language: "Language of reports",
    timeZone: "Time zone",
    ofClinic: "As the clinic",
    noName: "without a name",
    known: "Known owners",
    useOwner: "Choose",
    also: "also has {names}",
    otherOwner: "Another owner",
    moreOfOwner: "Language and time zone",
    alike: "Is it one of these?",
    alikeWhy: "Two entries for one animal split its history.",
    alikeCount: "{count} animals are alike",
    deceased: "deceased",
    bornOn: "born {date}",
    look: "Look",
    lookAt: "Look at {name} in a new tab",
    useAnimal: "Use this animal",
    save: "Save",
    saveAnyway: "Save as another animal",
    saveAndFile: "Save and file the result",
    saveAnywayAndFile: "Save as another animal and file the result",
    cancel: "Cancel",
    shared: "Other clinics see this animal too: what you change changes for them.",
    fromSoftware: "{source} sends this animal. What you change here lasts until it sends it again.",
    back: "All patients",
    backTo: "Back to {name}",
  },
  {
    newAnimal: "Yeni hasta",
    newIntro: "Yalnızca ad ve tür gerekir. Referans aralıklarını tür belirler.",
    fromResult: "Bu sonuçtan yeni hasta",
    fromResultIntro: "Cihazın bildirdikleri dolduruldu. Kaydedince sonuç yeni hastaya yerleştirilir.",
    editAnimal: "{name} kaydını değiştir",
    animal: "Hayvan",
    name: "Ad",
    species: "Tür",
    chooseSpecies: "Seçin",
    breed: "Irk",
    sex: "Cinsiyet",
    notKnown: "Bilinmiyor",
    born: "Doğum tarihi",
    weight: "Ağırlık (kg)",
    numbers: "Numaralar",
    number: "Numara",
    addNumber: "Ekle:",
    owner: "Sahibi",
    ownerName: "Sahibinin adı",
    ownerHint: "Yazdıkça kliniğin tanıdığı sahipler görünür.",
    phone: "Telefon",
    email: "E-posta",
    emailHint: "Raporlar içindir. Hiçbir program okuyamaz.",
    language: "Rapor dili",
    timeZone: "Saat dilimi",
    ofClinic: "Kliniğinki",
    noName: "adsız",
    known: "Tanınan sahipler",
    useOwner: "Seç",
    also: "diğer hayvanları: {names}",
    otherOwner: "Başka sahip",
    moreOfOwner: "Dil ve saat dilimi",
    alike: "Bunlardan biri mi?",
    alikeWhy: "Bir hayvanın iki kaydı, geçmişini böler.",
    alikeCount: "{count} benzer hasta var",
    deceased: "öldü",
    bornOn: "doğum {date}",
    look: "Bak",
    lookAt: "{name} kaydına yeni sekmede bak",
    useAnimal: "Bu hastayı kullan",
    save: "Kaydet",
    saveAnyway: "Başka hasta olarak kaydet",
    saveAndFile: "Kaydet ve sonucu yerleştir",
    saveAnywayAndFile: "Başka hasta olarak kaydet ve sonucu yerleştir",
    cancel: "Vazgeç",
    shared: "Bu hastayı başka klinikler de görüyor: değişiklikleriniz onlarda da görünür.",
    fromSoftware: "Bu hastayı {source} gönderiyor. Buradaki değişiklik, yeniden gönderene kadar kalır.",
    back: "Tüm hastalar",
    backTo: "{name} sayfasına dön",
  },
);
