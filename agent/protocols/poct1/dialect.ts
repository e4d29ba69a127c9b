// Vendor dialects of POCT1-A, chosen by the vendor and model in HELLO.

export interface Dialect {
  /** The agent's documents start with an XML declaration. */
  readonly xmlDeclaration: boolean;
  /** Field in which an ACK names the acknowledged message. */
  readonly ackField: "ACK.ack_control_id" | "ACK.control_id";
  /** The device expects an ACK when it ends a topic; some reply to an unexpected ACK with an escape. */
  readonly ackEndOfTopic: boolean;
  /** One request returns one observation, without an end of topic. */
  readonly requestEach: boolean;
}

export const GENERIC: Dialect = {
  xmlDeclaration: true,
  ackField: "ACK.ack_control_id",
  ackEndOfTopic: true,
  requestEach: false,
};

const BY_VENDOR: readonly { readonly vendor: RegExp; readonly dialect: Partial<Dialect> }[] = [
  { vendor: /\bSIEM/i, dialect: { ackEndOfTopic: false } },
  { vendor: /\bNOVA/i, dialect: { ackEndOfTopic: false } },
  { vendor: /\b(?:PixCell|HemoScreen)/i, dialect: { ackField: "ACK.control_id" } },
  // Its reader takes the first tag for the root.
  { vendor: /\bi-?STAT/i, dialect: { xmlDeclaration: false, requestEach: true } },
];

/** Returns the dialect of a device, GENERIC for an unknown vendor. */
export function dialectOf({ vendor, model }: { readonly vendor: string; readonly model: string }): Dialect {
  const name = `${vendor} ${model}`;
  return { ...GENERIC, ...BY_VENDOR.find((entry) => entry.vendor.test(name))?.dialect };
}

/** Analytes of the DCA's urine cartridge. No field of its observations names urine; it measures nothing else but HbA1c. */
const DCA_URINE: readonly { readonly name: RegExp; readonly analyte: string }[] = [
  { name: /^Alb(?:umin)?$/i, analyte: "UALB" },
  { name: /^(?:Crt|Creat(?:inine)?)$/i, analyte: "UCREA" },
  { name: /^(?:Ratio|ACR|A\/?C(?: Ratio)?)$/i, analyte: "ACR" },
];

/** Returns the urine analyte that a device means by these names though they name one of blood; null for other names. */
export function urineAnalyteOf({ model }: { readonly model: string }, names: readonly string[]): string | null {
  if (!/\bDCA\b/i.test(model)) return null;
  return DCA_URINE.find(({ name }) => names.some((each) => name.test(each)))?.analyte ?? null;
}
