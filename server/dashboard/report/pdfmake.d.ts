// The part of pdfmake 0.3 that the reports use. The package has no types.

declare module "pdfmake" {
  const pdfmake: {
    setFonts(fonts: Record<string, { normal: string; bold: string; italics: string; bolditalics: string }>): void;
    setTableLayouts(layouts: Record<string, object>): void;
    setLocalAccessPolicy(isAllowed: (path: string) => boolean): void;
    setUrlAccessPolicy(isAllowed: (url: string) => boolean): void;
    createPdf(definition: object): { getBuffer(): Promise<Buffer> };
  };
  export = pdfmake;
}
