import { fold } from "../../../shared/clinical/species.ts";
import type { ColumnNote, Meaning } from "../../dashboard/types/file-import.ts";

// The meaning of the columns of a file, by their headers.

/**
 * Headers of practice software and of people in English, Turkish, German, French and Spanish, the best one first. They are compared
 * without case, accents, blanks and marks.
 */
const HEADERS: Readonly<Record<Meaning, string>> = {
  id:
    "patient id, patient identifier, patient number, patient no, animal id, pet id, account id, file number, chart number, patient code, " +
    "hasta no, hasta numarası, hasta kodu, dosya no, protokol no, patientennummer, patienten nr, patientnr, tiernummer, tier id, " +
    "animal number, animal code, numero patient, no patient, id animal, numero de paciente, historia clinica, patientid, id, nummer, key, no",
  name:
    "patient name, pet name, animal name, hasta adı, hayvan adı, hayvanın adı, pet adı, tiername, name des tieres, nom de l animal, " +
    "nom animal, nombre del paciente, nombre de la mascota, nombre mascota, mascota, hasta, patient, animal, pet, tier, rufname, name, adı, " +
    "ad, isim, ismi, nom, nombre, paciente",
  species:
    "species, patient species, species description, animal type, pet type, tür, türü, hayvan türü, cins tür, tierart, spezies, art, espece, " +
    "especie, species code, type, kind",
  breed: "breed, patient breed, breed description, breed 1, ırk, ırkı, cinsi, rasse, race, raza, breed code",
  sex: "sex, patient sex, gender, gender val, cinsiyet, cinsiyeti, geschlecht, sexe, sexo, genero",
  neutered:
    "neutered, spayed neutered, is spayed or neutered, spayed or neutered, animal neutered, altered, desexed, fixed, sterilized, sterilised, " +
    "kısır, kısırlaştırılmış, kısırlaştırma, kısır mı, kastriert, kastrationsstatus, kastration, sterilise, castre, esterilizado, castrado",
  birth:
    "date of birth, dob, birth date, birthdate, birth, birthday, patient date of birth, born, doğum tarihi, doğum, doğum günü, d tarihi, " +
    "geburtsdatum, geboren, geburtstag, geb, date de naissance, naissance, fecha de nacimiento, nacimiento, f nacimiento",
  death:
    "date of death, dod, death date, deceased date, deceased at, died, ölüm tarihi, sterbedatum, todesdatum, verstorben am, date de deces, fecha de muerte, " +
    "fecha de fallecimiento",
  deceased: "deceased, is deceased, flg deceased, dead, öldü, ölü, verstorben, tot, decede, fallecido, muerto",
  weight:
    "weight, weight kg, body weight, patient weight, ağırlık, kilo, canlı ağırlık, vücut ağırlığı, gewicht, körpergewicht, poids, peso",
  weight_unit:
    "weight unit, weight units, patient weight units, weight unit val, weight uom, ağırlık birimi, birim, gewichtseinheit, einheit, unite, unidad",
  microchip:
    "microchip, microchip number, microchip no, microchip id, chip, chip number, chip no, mikroçip, mikroçip no, mikroçip numarası, çip, çip no, " +
    "çip numarası, chipnummer, chip nr, transpondernummer, transponder, mikrochip, mikrochipnummer, puce, numero de puce, " +
    "numero de microchip, rfid",
  card: "card number, card no, card, kart no, kart numarası, kart, barkod, barcode, karteikarte, karteinummer, tag number, carte",
  tattoo: "tattoo, tatoo, tattoo number, dövme, dövme no, tätowierung, tätowiernummer, tatouage, tatuaje",
  owner_id:
    "owner id, client id, customer id, client identifier, customer identifier, client number, client no, client account id, client code, " +
    "owner number, sahip no, müşteri no, müşteri kodu, müşteri numarası, kundennummer, kunden nr, kundennr, kunde nr, besitzernummer, " +
    "besitzer nr, numero client, no client, id propietario, codigo cliente, customer number, client key",
  owner:
    "owner, owner name, owner full name, client, client name, customer, customer name, hasta sahibi, sahip, sahibi, sahip adı, sahibinin adı, " +
    "sahip adı soyadı, hayvan sahibi, müşteri, müşteri adı, müşteri adı soyadı, adı soyadı, ad soyad, besitzer, besitzername, tierhalter, halter, tierbesitzer, kunde, kundenname, " +
    "proprietaire, nom du proprietaire, propietario, nombre del propietario, dueño, cliente",
  owner_first:
    "owner first name, client first name, customer first name, first name, firstname, sahip ad, vorname, prenom, nombre propietario, given name",
  owner_last:
    "owner last name, client last name, customer last name, customer surname, owner surname, last name, lastname, surname, sahip soyadı, " +
    "soyadı, soyad, nachname, familienname, nom de famille, apellido, apellidos, family name",
  phone:
    "phone, owner phone, client phone, phone number, mobile, mobile phone, cell phone, cell, telephone, phone 1 as is, phone 1, home phone, telefon, " +
    "telefon no, telefon numarası, cep telefonu, cep, gsm, tel, mobil, handy, telefonnummer, portable, telefono, movil, celular",
  email:
    "email, e mail, owner email, client email, email address, e mail address, e posta, eposta, mail, courriel, correo electronico, correo",
  item:
    "item name, item, product name, product, stock name, medicine, drug, description, ürün adı, ürün, stok adı, malzeme adı, ilaç adı, ilaç, malzeme, " +
    "artikelbezeichnung, artikelname, artikel, bezeichnung, produkt, designation, article, produit, articulo, producto, descripcion",
  sku:
    "sku, item number, item no, item code, product code, product number, stock code, stok kodu, stok no, ürün kodu, ürün no, malzeme kodu, " +
    "artikelnummer, artikel nr, artikelnr, code article, reference, codigo, codigo articulo, referencia",
  category:
    "category, item category, product category, item type, product type, item group, kategori, ürün grubu, grup, grubu, ürün türü, kategorie, " +
    "artikelgruppe, warengruppe, gruppe, categorie, famille, categoria, grupo, familia",
  stock_unit:
    "unit of measure, stock unit, uom, unit, ölçü birimi, stok birimi, mengeneinheit, bestandseinheit, unidad de medida",
  threshold:
    "low stock threshold, reorder level, reorder point, minimum stock, min stock, minimum, min, asgari stok, minimum stok, min stok, kritik stok, " +
    "kritik seviye, mindestbestand, meldebestand, stock minimum, stock minimo",
  quantity:
    "quantity on hand, quantity, qty, on hand, stock, stock quantity, amount, count, miktar, miktarı, stok miktarı, mevcut, adet, eldeki, " +
    "bestand, menge, lagerbestand, anzahl, quantite, stock actuel, cantidad, existencias",
  lot: "lot number, lot no, lot, batch number, batch no, batch, parti no, parti, seri no, charge, chargennummer, chargen nr, numero de lot, lote",
  expiry:
    "expiry date, expiry, expiration date, expires, exp date, exp, best before, son kullanma tarihi, skt, son kullanım tarihi, miad, " +
    "verfallsdatum, ablaufdatum, verfall, haltbar bis, date de peremption, peremption, fecha de caducidad, caducidad",
};

/** Unit of a weight in its header, such as `Weight (kg)`. */
const HEADER_UNIT = /\b(kg|kgs|kilo|kilogram|g|gr|gram|lb|lbs|pounds?|oz|ounces?)\b/i;

const meanings = Object.keys(HEADERS) as Meaning[];

/** Each known header with its meaning and its place among the headers of that meaning. */
const known = new Map<string, { meaning: Meaning; rank: number }>();
for (const meaning of meanings) {
  for (const [rank, header] of HEADERS[meaning].split(", ").entries()) {
    const key = keyOf(header);
    if (!known.has(key)) known.set(key, { meaning, rank });
  }
}

/** A header without case, accents, blanks and marks: `Doğum Tarihi` and `dogum_tarihi` are one. */
function keyOf(header: string): string {
  return fold(header).replaceAll(" ", "");
}

export interface ReadColumn {
  readonly header: string;
  readonly meaning: Meaning | null;
  /** Why a column without a meaning has none, if its header alone does not show it. */
  readonly note: ColumnNote | null;
}

/** Decides what each column means. `chosen` has the choices of a person, by the position of the column. */
export function readColumns(
  headers: readonly string[],
  chosen: readonly (Meaning | null)[] | undefined,
): readonly ReadColumn[] {
  const keys = headers.map(keyOf);
  const isTwice = (index: number) => keys.indexOf(keys[index] ?? "") !== keys.lastIndexOf(keys[index] ?? "");
  const note = (index: number): ColumnNote | null =>
    keys[index] === "" ? "empty_header" : isTwice(index) ? "equal_header" : null;
  if (chosen !== undefined) {
    return headers.map((header, index) => ({ header, meaning: chosen[index] ?? null, note: note(index) }));
  }
  const found = headers.map((header, index) => (note(index) === null ? meaningOf(header) : undefined));
  return headers.map((header, index) => {
    const own = found[index];
    if (own === undefined) return { header, meaning: null, note: note(index) };
    const isBest = found.every((other, at) => at === index || other?.meaning !== own.meaning || other.rank > own.rank);
    return isBest ? { header, meaning: own.meaning, note: null } : { header, meaning: null, note: "second_column" };
  });
}

function meaningOf(header: string): { meaning: Meaning; rank: number } | undefined {
  const whole = known.get(keyOf(header));
  if (whole !== undefined) return whole;
  // "Weight (kg)" and "Name *" name what they mean before the mark.
  return known.get(keyOf(header.replace(/[([*:/].*$/, "")));
}

/** @returns how many headers are known, by which the header is found below a title */
export function countKnown(headers: readonly string[]): number {
  return headers.filter((header) => meaningOf(header) !== undefined).length;
}

/** @returns the unit that the header of the weights names; null if it names none */
export function unitOfHeader(header: string): string | null {
  return HEADER_UNIT.exec(fold(header.replaceAll("_", " ")))?.[1] ?? null;
}
