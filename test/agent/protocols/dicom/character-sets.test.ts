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

test("text in an unknown character set is decoded byte by byte", () => {
  expect(decodeText(Uint8Array.of(0x41, 0xe9), "ISO_IR 999")).toBe("Aé");
});
