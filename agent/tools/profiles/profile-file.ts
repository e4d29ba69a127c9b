import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { type Static, Type } from "typebox";
import { parse, stringify } from "yaml";
import { plural } from "../../../shared/platform/cli/output.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { problems } from "../../../shared/schema/problems.ts";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import { printProfile } from "../../devices/table/document.ts";
import { readProfileText } from "../../devices/table/load.ts";
import type { AnyProfileForm } from "../../devices/table/file.ts";
import type { Profile } from "../../devices/profile.ts";
import type { Report } from "../../report/report.ts";
import { replay } from "../offline/replay.ts";

// A profile as one file, `acme-x1@3.vetwire-profile`: a zip with profile.yaml, its captures without names, the rows that they give,
// and what the device is.

/** Max bytes after unpacking: a file of a few kB can unpack to gigabytes. */
const UNPACKED_BYTES_MAX = 8 * 1024 * 1024;
const PARTS_MAX = 50;

const About = ClosedObject({
  model: Type.String({ minLength: 1, maxLength: 200 }),
  firmware: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  /** The proof of the reading: a capture, or one that a person compared with the print-out. */
  evidence: Type.Enum(["capture", "printout"]),
  /** The zone of the device's clock in the captures. */
  timeZone: Type.String({ minLength: 1, maxLength: 64 }),
  receivedAt: Type.Integer({ minimum: 0 }),
});
export type About = Static<typeof About>;

const aboutValidator = compileLater(About);

export interface ProfileFile {
  readonly form: AnyProfileForm;
  readonly profile: Profile;
  /** Bytes of the device by the name of their part: `captures/1.hl7`. */
  readonly captures: ReadonlyMap<string, Uint8Array>;
  readonly about: About;
}

/** Name of the file of a revision: `acme-x1@3.vetwire-profile`. */
export function fileNameOf({ profile, revision }: Pick<AnyProfileForm, "profile" | "revision">): string {
  return `${profile.replace(/^own\//, "")}@${revision}.vetwire-profile`;
}

/** Packs a profile. What its captures give goes with it, so that another version notices a difference. */
export function packProfile({ form, profile, captures, about }: ProfileFile): Uint8Array {
  const parts = [...captures].map(([name, bytes]) => [
    [name, bytes],
    [expectedName(name), strToU8(readingText(bytes, profile, about))],
  ]);
  return zipSync({
    "profile.yaml": strToU8(printProfile(form)),
    "about.yaml": strToU8(stringify(about)),
    ...(Object.fromEntries(parts.flat()) as Record<string, Uint8Array>),
  });
}

/** Reads a capture to its messages with their rows, as JSON. */
function readingText(bytes: Uint8Array, profile: Profile, { timeZone, receivedAt }: About): string {
  const context = { device: "replay", timeZone, receivedAt };
  const { warnings, messages } = replay([bytes], profile, context, null);
  const read = messages.map(({ incomplete, reading }) => ({ incomplete, reading }));
  return `${JSON.stringify({ warnings, messages: read }, null, 2)}\n`;
}

/** Counts what a capture gives, as a sentence. */
export function readingOf(bytes: Uint8Array, profile: Profile, { timeZone, receivedAt }: About): string {
  const { messages } = replay([bytes], profile, { device: "replay", timeZone, receivedAt }, null);
  const reports = messages.flatMap(({ reading }) => (reading.is === "reports" ? reading.reports : []));
  const sum = (of: (report: Report) => number) => reports.reduce((total, report) => total + of(report), 0);
  const others = messages.filter(({ reading }) => reading.is !== "reports").map(({ reading }) => reading.is);
  return [
    plural(
      sum(({ rows }) => rows.length),
      "result",
    ),
    `${plural(
      sum(({ unmapped }) => unmapped.length),
      "code",
    )} that the catalogue lacks`,
    `${sum(({ leftOut }) => leftOut.length)} without a value`,
    ...others,
  ].join(", ");
}

function expectedName(capture: string): string {
  return capture.replace(/^captures\/(.+)\.\w+$/, "expected/$1.json");
}

/** A profile's file whose captures were replayed. */
export interface ReadProfileFile extends ProfileFile {
  /** Captures that give other rows here than where the file was made. */
  readonly differing: readonly string[];
}

/** Reads the file of a profile, also a profile's text alone. @throws Error with every problem, a line each */
export function unpackProfile(bytes: Uint8Array, where: string): ReadProfileFile {
  // A zip begins so (APPNOTE 4.3.7).
  const isZip = strFromU8(bytes.subarray(0, 4), true) === "PK\x03\x04";
  const parts = isZip ? partsOf(bytes, where) : { "profile.yaml": bytes };
  const text = parts["profile.yaml"];
  if (text === undefined) throw new Error(`${where} has no profile.yaml`);
  const name = isZip ? `${where}/profile.yaml` : where;
  const read = readProfileText(strFromU8(text), name);
  if ("problems" in read) throw new Error(read.problems.map(({ message }) => message).join("\n"));
  const { form, profile } = read;
  const names = Object.keys(parts).filter((part) => /^captures\/[\w-]{1,64}\.\w{1,8}$/.test(part));
  const captures = new Map(names.map((part) => [part, parts[part]!]));
  const about = aboutOf(parts["about.yaml"], `${where}/about.yaml`, form);
  const differing = names.filter((part) => {
    const expected = parts[expectedName(part)];
    return expected === undefined || !isSame(strFromU8(expected), readingText(parts[part]!, profile, about));
  });
  return { form, profile, captures, about, differing };
}

function partsOf(bytes: Uint8Array, where: string): Record<string, Uint8Array> {
  let [size, count] = [0, 0];
  try {
    // The list of the parts first: fflate unpacks no part beyond the size that the list has.
    unzipSync(bytes, {
      filter: ({ originalSize }) => {
        size += originalSize;
        count += 1;
        return false;
      },
    });
    if (size > UNPACKED_BYTES_MAX || count > PARTS_MAX) throw new Error("too large");
    return unzipSync(bytes);
  } catch (error) {
    const isLarge = size > UNPACKED_BYTES_MAX || count > PARTS_MAX;
    const why = isLarge
      ? `unpacks to ${size} bytes in ${count} parts, expected at most ${UNPACKED_BYTES_MAX} in ${PARTS_MAX}`
      : "is damaged";
    throw new Error(`${where} ${why}`, { cause: error });
  }
}

function aboutOf(bytes: Uint8Array | undefined, where: string, { device, profile }: AnyProfileForm): About {
  if (bytes === undefined) {
    const model = device.name ?? ("default" in device ? device.default : undefined) ?? profile;
    return { model, evidence: "capture", timeZone: "UTC", receivedAt: 0 };
  }
  const about: unknown = parse(strFromU8(bytes), { schema: "core", maxAliasCount: 0 });
  if (aboutValidator.Check(about)) return about;
  throw new Error(`${where}: ${problems(aboutValidator, about).join("; ")}`);
}

/** Compares values, because a person may have formatted the file. */
function isSame(one: string, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
  } catch {
    return false;
  }
}
