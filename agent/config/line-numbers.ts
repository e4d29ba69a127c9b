import type { Fault } from "../../shared/schema/problems.ts";
import { nearestWord } from "../runtime/did-you-mean.ts";
import { dotted } from "../runtime/yaml-lines.ts";
import {
  DestinationSchema,
  DeviceSchema,
  ImagesSchema,
  ReplyConnectionSchema,
  ConfigSchema,
  PracticeSchema,
  SerialSchema,
  TlsSchema,
} from "./values/schema.ts";
import type { ProblemCode } from "./values/problem-report.ts";
import { ReceiverTlsSchema } from "./values/result-destination.ts";

/** A problem with its path in the configuration. */
export interface LocatedProblem {
  readonly steps: readonly string[];
  readonly message: string;
  readonly code?: ProblemCode;
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(ConfigSchema.properties),
  server: Object.keys(ConfigSchema.properties.server.properties),
  status: ["listen"],
  devices: Object.keys(DeviceSchema.properties),
  destinations: Object.keys(DestinationSchema.properties),
  images: Object.keys(ImagesSchema.properties),
  connection: Object.keys(DeviceSchema.properties.connection.properties),
  serial: Object.keys(SerialSchema.properties),
  replyConnection: Object.keys(ReplyConnectionSchema.properties),
  tls: Object.keys(TlsSchema.properties),
  practice: Object.keys(PracticeSchema.properties),
  "destinations.tls": Object.keys(ReceiverTlsSchema.properties),
};

/** Names the place of a fault as users write it, and the nearest known key of an unknown one. */
export function locate({ code, steps, place, words }: Fault): LocatedProblem {
  if (code === "CUT") return { steps, message: `${place} ${words}` };
  const name = dotted(steps);
  if (code !== "UNEXPECTED") return { steps, message: `${name || "the file"} ${words}` };
  const parent = steps.slice(0, -1).findLast((step) => !/^\d+$/.test(step)) ?? "";
  const known = KEYS[`${steps[0]}.${parent}`] ?? KEYS[parent] ?? [];
  const key = steps.at(-1) ?? "";
  const nearest = nearestWord(key, known);
  const advice = nearest === null ? `expected one of ${known.join(", ")}` : `did you mean ${nearest}?`;
  return { steps, message: `${name} is an unknown key, ${advice}` };
}
