import path from "node:path";
import { type Static, Type } from "typebox";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import { parseAddress } from "../../transport/address.ts";
import { asObject, type ReportProblem } from "./problem-report.ts";
import {
  MESSAGE_OPTIONS,
  type MessageOptions,
  RESULT_DESTINATION,
  type ResultDestination,
} from "./result-destination.ts";
import { tlsProblem } from "./tls-files.ts";

// The checks of a destination of results, and its values with resolved paths.

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
  // Port 0 is an address to listen at, with a port of the system.
  if (typeof dial === "string" && (parseAddress(dial)?.port ?? 0) === 0) {
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
