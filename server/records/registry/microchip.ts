// Numbers of microchips as practice software and spreadsheets write them.

/** Digits of a chip of ISO 11784, of which the first three are a country or a maker: a leading 0 is real (040 is Austria). */
const ISO_DIGITS = 15;

/** Reads a microchip without the blanks, hyphens and stars that people and makers add. @returns its number, or why it is refused */
export function readMicrochip(text: string): { number: string } | { code: string; expected: string } {
  // A spreadsheet keeps a number as text with ="..." or a leading apostrophe.
  const number = text.replaceAll(/^="?|[\s*'"-]/g, "").toUpperCase();
  // Ten digits with an E may be a chip of FDX-A. A rounded number has a decimal mark or a plus.
  if (/^\d+(?:[.,]\d+E\+?|E\+)\d+$/.test(number)) {
    return { code: "lost_digits", expected: "all digits of the chip: a spreadsheet has rounded them" };
  }
  if (/^\d+$/.test(number) && number.length === ISO_DIGITS - 1) {
    return { code: "lost_zero", expected: "15 digits: a spreadsheet may have cut off a leading 0" };
  }
  // 15 digits, 9 of AVID, 10 of FDX-A. Others exist, and a person may have typed them.
  if (!/^[0-9A-Z]{4,20}$/.test(number))
    return { code: "wrong_form", expected: "a microchip of 4 to 20 digits and letters" };
  return { number };
}
