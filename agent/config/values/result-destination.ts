import { Type } from "typebox";
import { PIN } from "../../../shared/api/agent/pairing.ts";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import { textForm } from "../../../shared/schema/text-form.ts";
import type { Address } from "../../transport/address.ts";

// Destinations of results: practice software that gets HL7 messages (ORU^R01), and folders that get CSV files. The server makes the
// bytes and keeps the queue; the agent brings them to their place.

/** A name of an application or facility in MSH. */
const HeaderName = Type.String({
  pattern: textForm("^[^|^~\\\\&\\u0000-\\u001f]{1,180}$", "1 to 180 characters without the delimiters of HL7"),
});

export const ReceiverTlsSchema = ClosedObject({
  /** File with the authorities of the receiver, in PEM; those of the system without it. */
  ca: Type.Optional(Type.String({ minLength: 1 })),
  /** The receiver's public key, whatever its name and issuer. */
  pin: Type.Optional(Type.String({ pattern: textForm(PIN, "sha256/ and 44 characters of base64") })),
});

/** The settings that the receiver of HL7 messages expects. */
export const MESSAGE_OPTIONS = {
  /** Order of the names in PID-5. */
  nameOrder: Type.Optional(Type.Enum(["owner-first", "animal-first"])),
  /** OBX-3 has the local code first, and LOINC second. */
  localFirst: Type.Optional(Type.Boolean()),
  /** The report is the last OBX of each message. */
  pdf: Type.Optional(Type.Boolean()),
  /** MSH-5 and MSH-6. */
  application: Type.Optional(HeaderName),
  facility: Type.Optional(HeaderName),
};

/** The keys of a destination of results, in addition to `id` and `dial`. */
export const RESULT_DESTINATION = {
  kind: Type.Optional(Type.Enum(["hl7", "csv"])),
  tls: Type.Optional(ReceiverTlsSchema),
  folder: Type.Optional(Type.String({ minLength: 1 })),
  ...MESSAGE_OPTIONS,
};

export interface MessageOptions {
  readonly name_order?: "owner_first" | "animal_first";
  readonly local_first?: boolean;
  readonly pdf?: boolean;
  readonly application?: string;
  readonly facility?: string;
}

export type ResultDestination =
  | {
      readonly id: string;
      readonly kind: "hl7";
      readonly address: Address;
      readonly tls: { readonly ca?: string; readonly pin?: string } | null;
      readonly options: MessageOptions;
    }
  | { readonly id: string; readonly kind: "csv"; readonly folder: string };
