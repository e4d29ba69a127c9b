// What POCT1-A leaves open, or a device does its own way. Who the device is says its HELLO.

export interface Habits {
  /** Whether our documents begin with an XML declaration. */
  readonly xmlDeclaration: boolean;
  /** Where an ACK names the message it answers. */
  readonly ackField: "ACK.ack_control_id" | "ACK.control_id";
  /** Whether the device wants its end of topic acknowledged; some answer an ACK they do not expect with an escape. */
  readonly ackEndOfTopic: boolean;
  /** One request brings one observation, and no end of topic. */
  readonly requestEach: boolean;
}

export const GENERIC: Habits = {
  xmlDeclaration: true,
  ackField: "ACK.ack_control_id",
  ackEndOfTopic: true,
  requestEach: false,
};

const BY_VENDOR: readonly { readonly vendor: RegExp; readonly habits: Partial<Habits> }[] = [
  { vendor: /\bSIEM/i, habits: { ackEndOfTopic: false } },
  { vendor: /\bNOVA/i, habits: { ackEndOfTopic: false } },
  { vendor: /\b(?:PixCell|HemoScreen)/i, habits: { ackField: "ACK.control_id" } },
  // Its reader takes the first tag for the root.
  { vendor: /\bi-?STAT/i, habits: { xmlDeclaration: false, requestEach: true } },
];

/** `generic-poct1a` for a vendor that is not known. */
export function habitsOf({ vendor, model }: { readonly vendor: string; readonly model: string }): Habits {
  const name = `${vendor} ${model}`;
  return { ...GENERIC, ...BY_VENDOR.find((entry) => entry.vendor.test(name))?.habits };
}
