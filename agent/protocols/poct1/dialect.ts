// Vendor dialects of POCT1-A, chosen by the vendor and model in HELLO.

export interface Dialect {
  /** The agent's documents begin with an XML declaration. */
  readonly xmlDeclaration: boolean;
  /** Field in which an ACK names the acknowledged message. */
  readonly ackField: "ACK.ack_control_id" | "ACK.control_id";
  /** The device expects an ACK of its end of topic; some reply to an unexpected ACK with an escape. */
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
