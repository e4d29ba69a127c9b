// Types for the parts of dcmjs that the agent uses. The package has none.
declare module "dcmjs" {
  export const data: {
    readonly DicomMessage: {
      /** @throws on whatever it cannot read, unless `ignoreErrors`: then what came before is given */
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
