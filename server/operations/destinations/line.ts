import type { LookupFunction } from "node:net";
import type { DeliveryOutcome } from "../../dashboard/types/settings/destinations.ts";
import { HL7_TIMES, Hl7Connection, type Hl7Times } from "../../../shared/network/hl7-sender/connection.ts";
import { type AddressFault, addressesOf, checkAddresses, type DestinationAddress, readAddress } from "./address.ts";

/** How an attempt ended; `code` is of the sender, or an AddressFault. */
export interface LineOutcome {
  readonly outcome: DeliveryOutcome;
  readonly code: string;
  readonly text: string | null;
}

interface LineFault {
  readonly code: string;
  readonly text: string | null;
}

export interface LineOptions {
  /** Allows practice software in the local network. */
  readonly allowPrivate: boolean;
  readonly times?: Hl7Times;
}

/** The connection to practice software. It connects to the very address that it checked. Never rejects. */
export class Line {
  readonly #text: string;
  readonly #options: Required<LineOptions>;
  #connection: Hl7Connection | null = null;

  constructor(address: string, options: LineOptions) {
    this.#text = address;
    this.#options = { times: HL7_TIMES, ...options };
  }

  /** Opens the connection. @returns why it cannot; null if it is open */
  async open(): Promise<LineFault | null> {
    const connection = await this.#checked();
    return connection instanceof Hl7Connection ? connection.open() : connection;
  }

  async send(message: Uint8Array): Promise<LineOutcome> {
    const connection = await this.#checked();
    return connection instanceof Hl7Connection ? connection.send(message) : { outcome: "failed", ...connection };
  }

  close(): void {
    this.#connection?.close();
    this.#connection = null;
  }

  async #checked(): Promise<Hl7Connection | LineFault> {
    if (this.#connection !== null) return this.#connection;
    const { allowPrivate, times } = this.#options;
    const address = readAddress(this.#text);
    if (address === null) return fault("DESTINATION.FORM");
    const lookup = lookupOf(address, allowPrivate);
    const refused = await lookup.first();
    if (refused !== null) return refused;
    const { host, port, isTls } = address;
    this.#connection = new Hl7Connection({ host, port, tls: isTls ? {} : null, lookup: lookup.later }, times);
    return this.#connection;
  }
}

/** Checks the address now and, for a name, at each later connection. */
function lookupOf(address: DestinationAddress, allowPrivate: boolean) {
  const check = async () => {
    const found = await addressesOf(address);
    return { found, fault: checkAddresses(address, found, allowPrivate) };
  };
  const later: LookupFunction = (_host, options, settle) => {
    check().then(
      ({ found, fault: code }) => {
        if (code !== null) return settle(Object.assign(new Error(code), { code }), []);
        const [first] = found;
        return options.all === true ? settle(null, [...found]) : settle(null, first?.address ?? "", first?.family ?? 4);
      },
      (error: NodeJS.ErrnoException) => settle(error, []),
    );
  };
  const first = async (): Promise<LineFault | null> => {
    try {
      const { fault: code } = await check();
      return code === null ? null : fault(code);
    } catch {
      return { code: "DIAL.UNKNOWN_HOST", text: null };
    }
  };
  return { first, later };
}

function fault(code: AddressFault): LineFault {
  return { code, text: null };
}
