import path from "node:path";
import { type Static, Type } from "typebox";
import { PIN } from "../../../shared/api/pairing.ts";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import { textForm } from "../../../shared/schema/text-form.ts";
import { type Address, parseAddress } from "../../transport/address.ts";
import { asObject, type ReportProblem } from "./problem-report.ts";
import { tlsProblem } from "./tls-files.ts";

// Destinations of results: practice software that gets HL7 messages (ORU^R01), and folders that get CSV files. The server makes the
// bytes and keeps the queue; the agent brings them to their place.

/** A name of an application or facility in MSH. */
const HeaderName = Type.String({
  pattern: textForm("^[^|^~\\\\&\\u0000-\\u001f]{1,180}$", "1 to 180 characters without |, ^, ~, \\ and &"),
});

export const ReceiverTlsSchema = ClosedObject({
  /** File with the authorities of the receiver, in PEM; those of the system without it. */
  ca: Type.Optional(Type.String({ minLength: 1 })),
  /** The receiver's public key, whatever its name and issuer. */
  pin: Type.Optional(Type.String({ pattern: textForm(PIN, "sha256/ and 44 characters of base64") })),
});

/** What the receiver of HL7 messages expects. */
const MESSAGE_OPTIONS = {
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

const schema = ClosedObject({ ...RESULT_DESTINATION, id: Type.String(), dial: Type.Optional(Type.String()) });
type Written = Static<typeof schema>;

const KEYS = {
  hl7: ["dial", "tls", ...Object.keys(MESSAGE_OPTIONS)],
  csv: ["folder"],
} as const;

/** The keys that an archive of images does not have. */
export const RESULT_KEYS: readonly string[] = [...Object.keys(RESULT_DESTINATION)].filter((key) => key !== "kind");

/** Finds what a schema cannot express. */
export function resultDestinationProblems(
  destination: Record<string, unknown>,
  at: readonly string[],
  folder: string,
  report: ReportProblem,
): void {
  const { kind, dial, tls } = destination;
  if (kind !== "hl7" && kind !== "csv") return;
  const [needed] = KEYS[kind];
  if (!(needed in destination)) report(at, `has no ${needed}, which kind: ${kind} needs`);
  const allowed: readonly string[] = ["id", "kind", ...KEYS[kind]];
  for (const key of Object.keys(destination)) {
    if (!allowed.includes(key)) report([...at, key], `has no effect with kind: ${kind}`);
  }
  if (typeof dial === "string" && parseAddress(dial) === null) {
    report([...at, "dial"], `is "${dial}", expected host:port such as 192.168.1.9:6661`);
  }
  const { ca, pin } = asObject(tls);
  if (typeof ca === "string" && typeof pin === "string") report([...at, "tls"], "has ca and pin, expected one");
  const fault = typeof ca === "string" ? tlsProblem({ ca }, false, folder) : null;
  if (fault !== null) report([...at, "tls", "ca"], fault);
  if (typeof destination["folder"] === "string" && !path.isAbsolute(destination["folder"])) {
    report(
      [...at, "folder"],
      `is ${destination["folder"]}, expected a complete path such as C:\\Results, \\\\server\\results or /srv/results`,
    );
  }
}

/** Returns a checked destination with its paths resolved. */
export function asResultDestination(written: Written, inFolder: (name: string) => string): ResultDestination {
  const { id, kind, dial = "", folder = "", tls } = written;
  if (kind === "csv") return { id, kind, folder };
  const address = parseAddress(dial);
  if (address === null) throw new Error("destination without an address: expected a checked configuration");
  const files = tls?.ca === undefined ? {} : { ca: inFolder(tls.ca) };
  return {
    ...{ id, kind: "hl7", address },
    tls: tls === undefined ? null : { ...(tls.pin !== undefined && { pin: tls.pin }), ...files },
    options: optionsOf(written),
  };
}

function optionsOf({ nameOrder, localFirst, pdf, application, facility }: Written): MessageOptions {
  return {
    ...(nameOrder !== undefined && { name_order: nameOrder === "owner-first" ? "owner_first" : "animal_first" }),
    ...(localFirst !== undefined && { local_first: localFirst }),
    ...(pdf !== undefined && { pdf }),
    ...(application !== undefined && { application }),
    ...(facility !== undefined && { facility }),
  };
}
