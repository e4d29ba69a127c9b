// Types for the parts of dcmjs that the agent uses, because the package has none.
declare module "dcmjs" {
  export const data: {
    readonly DicomMessage: {
      /** Parses a file. @throws on an invalid element, unless `ignoreErrors`: then the elements before it are returned */
      readFile(
        file: ArrayBuffer,
        options: { readonly ignoreErrors: boolean },
      ): {
        readonly dict: Readonly<Record<string, unknown>>;
      };
    };
  };
  export const log: { setLevel(level: "silent"): void };
}
