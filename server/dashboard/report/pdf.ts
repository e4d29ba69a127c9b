import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// Makes PDF files. A definition holds text of devices and files, so pdfmake may read its fonts alone: no other file, no URL.

/** The parts of a pdfmake document that the reports use. A text is never markup. */
export type PdfContent = string | PdfNode | readonly PdfContent[];

export interface PdfNode {
  readonly text?: PdfContent;
  readonly stack?: readonly PdfContent[];
  readonly ol?: readonly PdfContent[];
  readonly columns?: readonly PdfContent[];
  readonly table?: {
    readonly headerRows: number;
    readonly widths: readonly (string | number)[];
    readonly dontBreakRows: boolean;
    readonly body: readonly (readonly PdfContent[])[];
  };
  readonly canvas?: readonly PdfShape[];
  /** A data URL of a PNG or JPEG, drawn as large as `fit` allows. */
  readonly image?: string;
  readonly fit?: readonly [number, number];
  readonly layout?: string;
  readonly noWrap?: boolean;
  /** Keeps a stack on one page. */
  readonly unbreakable?: boolean;
  readonly width?: "auto" | number;
  readonly columnGap?: number;
  readonly margin?: readonly [number, number, number, number];
  readonly fillColor?: string;
  /** The ground of a text, and its ink. */
  readonly background?: string;
  readonly color?: string;
  readonly style?: string | readonly string[];
  readonly alignment?: "right";
}

/** A drawn part of a picture: a line, a rectangle, a filled polygon or a ring, in points. */
export type PdfShape =
  | {
      readonly type: "line";
      readonly x1: number;
      readonly y1: number;
      readonly x2: number;
      readonly y2: number;
      readonly lineColor: string;
      readonly lineWidth: number;
    }
  | {
      readonly type: "ellipse";
      readonly x: number;
      readonly y: number;
      readonly r1: number;
      readonly r2: number;
      readonly color: string;
      readonly lineColor: string;
      readonly lineWidth: number;
    }
  | {
      readonly type: "rect";
      readonly x: number;
      readonly y: number;
      readonly w: number;
      readonly h: number;
      readonly r: number;
      readonly color: string;
    }
  | {
      readonly type: "polyline";
      readonly points: readonly { x: number; y: number }[];
      readonly closePath: true;
      readonly color: string;
    };

export interface PdfDocument {
  readonly language: string;
  readonly info: { readonly title: string; readonly creator: string };
  readonly content: readonly PdfContent[];
  readonly footer: (page: number, pages: number) => PdfNode;
}

const folder = join(dirname(createRequire(import.meta.url).resolve("pdfmake/package.json")), "fonts", "Roboto");
const fonts = {
  normal: join(folder, "Roboto-Regular.ttf"),
  bold: join(folder, "Roboto-Medium.ttf"),
  italics: join(folder, "Roboto-Italic.ttf"),
  bolditalics: join(folder, "Roboto-MediumItalic.ttf"),
};

/** Rows with a thin line, so close that a panel of 30 rows fits on a page. */
const RESULTS_LAYOUT = {
  hLineWidth: (line: number) => (line === 0 ? 0 : 0.5),
  vLineWidth: () => 0,
  hLineColor: () => "#d7dfdd",
  paddingLeft: () => 3,
  paddingRight: () => 3,
  paddingTop: () => 1.4,
  paddingBottom: () => 1.4,
};

/** A box with a coloured edge on its left. */
const REMARK_LAYOUT = {
  hLineWidth: () => 0,
  vLineWidth: (line: number) => (line === 0 ? 2.5 : 0),
  vLineColor: () => "#0b6e69",
  paddingLeft: () => 8,
  paddingRight: () => 8,
  paddingTop: () => 5,
  paddingBottom: () => 5,
};

/** Makes the PDF of a document on A4, in the thread of pdf-worker.ts. */
export async function renderPdf(document: PdfDocument): Promise<Buffer> {
  const { default: pdfmake } = await import("pdfmake");
  pdfmake.setFonts({ Roboto: fonts });
  pdfmake.setTableLayouts({ results: RESULTS_LAYOUT, remark: REMARK_LAYOUT });
  pdfmake.setLocalAccessPolicy((path) => Object.values(fonts).includes(path));
  pdfmake.setUrlAccessPolicy(() => false);
  return pdfmake
    .createPdf({
      ...composed(document),
      footer: (page: number, pages: number) => composed(document.footer(page, pages)),
      version: "1.7",
      tagged: true,
      displayTitle: true,
      pageSize: "A4",
      pageMargins: [40, 36, 40, 46],
      defaultStyle: { font: "Roboto", fontSize: 9 },
      styles: {
        title: { fontSize: 15, bold: true },
        heading: { fontSize: 10.5, bold: true, margin: [0, 4, 0, 2] },
        strong: { fontSize: 11, bold: true },
        label: { color: "#4a5956", fontSize: 8 },
        quiet: { color: "#4a5956", fontSize: 8 },
        outside: { bold: true },
        low: { color: "#1d4ed8" },
        high: { color: "#a63c08" },
        critical: { bold: true, color: "#b0211a" },
        footer: { margin: [40, 15, 40, 0] },
      },
    })
    .getBuffer();
}

/** The fonts have no combining marks: `Ş` in two characters, as macOS and some programs write it, would be printed as an S and a box. */
function composed<Part>(part: Part): Part {
  if (typeof part === "string") return part.normalize("NFC") as Part;
  if (Array.isArray(part)) return part.map((each: unknown) => composed(each)) as Part;
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, composed(value as unknown)])) as Part;
}
