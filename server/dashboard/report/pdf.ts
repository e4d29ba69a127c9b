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
    readonly widths: readonly string[];
    readonly dontBreakRows: boolean;
    readonly body: readonly (readonly PdfContent[])[];
  };
  readonly layout?: string;
  readonly noWrap?: boolean;
  readonly width?: "auto";
  readonly style?: string | readonly string[];
  readonly alignment?: "right";
}

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

/** Makes the PDF of a document on A4, in the thread of pdf-worker.ts. */
export async function renderPdf(document: PdfDocument): Promise<Buffer> {
  const { default: pdfmake } = await import("pdfmake");
  pdfmake.setFonts({ Roboto: fonts });
  pdfmake.setLocalAccessPolicy((path) => Object.values(fonts).includes(path));
  pdfmake.setUrlAccessPolicy(() => false);
  return pdfmake
    .createPdf({
      ...document,
      version: "1.7",
      tagged: true,
      displayTitle: true,
      pageSize: "A4",
      pageMargins: [40, 40, 40, 50],
      defaultStyle: { font: "Roboto", fontSize: 9 },
      styles: {
        title: { fontSize: 15, bold: true, margin: [0, 0, 0, 2] },
        heading: { fontSize: 11, bold: true, margin: [0, 12, 0, 3] },
        label: { bold: true, color: "#444444" },
        quiet: { color: "#555555", fontSize: 8 },
        outside: { bold: true },
        table: { margin: [0, 10, 0, 0] },
        footer: { margin: [40, 15, 40, 0] },
        critical: { bold: true, color: "#b3261e" },
      },
    })
    .getBuffer();
}
