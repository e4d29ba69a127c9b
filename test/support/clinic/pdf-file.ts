import { zlibSync } from "fflate";

// Small PDF files for tests.

export const latin1 = (text: string) => Buffer.from(text, "latin1");

/** Makes a PDF of a page with packed contents and a font whose codes its map names. */
export function pdfOf(text: string): Uint8Array {
  const codes = Array.from(new Set(text));
  const shown = Array.from(text, (character) => (codes.indexOf(character) + 1).toString(16).padStart(4, "0")).join("");
  const rows = codes.map(
    (character, index) =>
      `<${(index + 1).toString(16).padStart(4, "0")}> <${character.charCodeAt(0).toString(16).padStart(4, "0")}>`,
  );
  const stream = (content: string) => {
    const packed = Buffer.from(zlibSync(latin1(content)));
    return Buffer.concat([
      latin1(`<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`),
      packed,
      latin1("\nendstream"),
    ]);
  };
  const objects = [
    latin1("<< /Type /Page /Contents 2 0 R /Resources << /Font << /F1 3 0 R >> >> >>"),
    stream(`BT /F1 12 Tf 72 720 Td <${shown}> Tj ET`),
    latin1("<< /Type /Font /Subtype /Type0 /ToUnicode 4 0 R >>"),
    stream(`${rows.length} beginbfchar\n${rows.join("\n")}\nendbfchar`),
  ];
  const parts = objects.flatMap((object, index) => [latin1(`${index + 1} 0 obj\n`), object, latin1("\nendobj\n")]);
  return Buffer.concat([latin1("%PDF-1.7\n"), ...parts, latin1("%%EOF\n")]);
}
