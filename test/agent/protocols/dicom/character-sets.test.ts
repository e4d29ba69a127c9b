import { expect, test } from "vitest";
import { chooseCharset, decodeText, encodeText } from "../../../../agent/protocols/dicom/character-sets.ts";

test.each([
  ["Rex", "", ""],
  ["Rex", "ISO_IR 192", "ISO_IR 192"],
  ["Müller", "", "ISO_IR 100"],
  ["Şeker", "", "ISO_IR 148"],
  ["Şeker", "ISO_IR 100", "ISO_IR 148"],
  ["你", "ISO_IR 148", "ISO_IR 192"],
  ["你", "GB18030", "GB18030"],
  ["Rex", "ISO_IR 999", "ISO_IR 999"],
])("%s with the wanted character set %j is written in %j", (text, wanted, chosen) => {
  const charset = chooseCharset(text, wanted);
  expect(charset).toBe(chosen);
  expect(decodeText(encodeText(text, charset), charset)).toBe(text);
});

test.each([
  ["ISO_IR 100", "Özgür", "Özgür"],
  ["", "Şeker", "Şeker"],
  ["\\ISO 2022 IR 87", "Şeker", "Şeker"],
  ["ISO_IR 144", "Šárka", "Šárka"],
  ["GB18030", "小龙大夫", "小龙大夫"],
])("text that is UTF-8 under %j is read as UTF-8", (charset, text, read) => {
  expect(decodeText(Buffer.from(text), charset)).toBe(read);
});

test.each([
  ["GB18030", Buffer.from([0xc2, 0xbd]), "陆"],
  ["ISO_IR 13", Buffer.from([0xc2, 0xb1]), "ﾂｱ"],
  ["ISO_IR 100", Buffer.from("Müller", "latin1"), "Müller"],
  ["", Buffer.from("Müller", "latin1"), "Müller"],
])("text in %s that is or may be its own stays as declared", (charset, sent, read) => {
  expect(decodeText(sent, charset)).toBe(read);
});

test("text in an unknown character set is decoded byte by byte", () => {
  expect(decodeText(Uint8Array.of(0x41, 0xe9), "ISO_IR 999")).toBe("Aé");
});
