import { strToU8, zipSync } from "fflate";

// Small Excel files for tests.

type Cell = string | number | boolean | { readonly serial: number } | null;

const NAMESPACE = "http://schemas.openxmlformats.org";
const RELATIONSHIP = `${NAMESPACE}/officeDocument/2006/relationships`;

/** Makes an .xlsx file of one sheet. A serial has a date format. */
export function sheetFile(rows: readonly (readonly Cell[])[], sheet = "Hastalar"): Uint8Array {
  const part = (text: string) => strToU8(`<?xml version="1.0" encoding="UTF-8"?>${text}`);
  const main = `xmlns="${NAMESPACE}/spreadsheetml/2006/main"`;
  const relation = (id: string, kind: string, target: string) =>
    `<Relationship Id="${id}" Type="${RELATIONSHIP}/${kind}" Target="${target}"/>`;
  const data = rows.map(
    (cells, row) => `<row r="${row + 1}">${cells.map((cell, at) => cellOf(cell, row, at)).join("")}</row>`,
  );
  return zipSync({
    "[Content_Types].xml": part(`<Types xmlns="${NAMESPACE}/package/2006/content-types"/>`),
    "xl/workbook.xml": part(
      `<workbook ${main} xmlns:r="${RELATIONSHIP}"><sheets><sheet name="${sheet}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ),
    "xl/_rels/workbook.xml.rels": part(
      `<Relationships xmlns="${NAMESPACE}/package/2006/relationships">${relation("rId1", "worksheet", "worksheets/sheet1.xml")}` +
        `${relation("rId2", "styles", "styles.xml")}</Relationships>`,
    ),
    "xl/styles.xml": part(
      `<styleSheet ${main}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    ),
    "xl/worksheets/sheet1.xml": part(`<worksheet ${main}><sheetData>${data.join("")}</sheetData></worksheet>`),
  });
}

function cellOf(cell: Cell, row: number, at: number): string {
  const place = `r="${String.fromCharCode(65 + at)}${row + 1}"`;
  if (cell === null) return "";
  if (typeof cell === "number") return `<c ${place}><v>${cell}</v></c>`;
  if (typeof cell === "boolean") return `<c ${place} t="b"><v>${cell ? 1 : 0}</v></c>`;
  if (typeof cell === "object") return `<c ${place} s="1"><v>${cell.serial}</v></c>`;
  const text = cell.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<c ${place} t="inlineStr"><is><t>${text}</t></is></c>`;
}
