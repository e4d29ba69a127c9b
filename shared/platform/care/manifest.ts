import { type Static, Type } from "typebox";
import { compileLater } from "../../schema/compile-later.ts";
import { jsonFault } from "../../schema/json-scan.ts";
import { problems, shown } from "../../schema/problems.ts";
import { SHA256_PATTERN, TIMESTAMP_PATTERN } from "../../schema/schema.ts";
import { textForm } from "../../schema/text-form.ts";
import { errorMessage } from "../../runtime/error-message.ts";

// The list of contents of a backup. A backup may come from anybody, and its digests prove only that its writer knew the format.

/** Values of the longest list: a million images with four values each, and the names of the manifest. */
const VALUES_MAX = 6_000_000;
const NAME_CHARS_MAX = 1000;
const FAULTS_MAX = 3;

const Bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const Member = Type.Object({
  /** Path with slashes; the first member is the database. */
  name: Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX }),
  offset: Bytes,
  bytes: Bytes,
  sha256: Type.String({ pattern: SHA256_PATTERN }),
});
/** A file in the backup. */
export type Member = Readonly<Static<typeof Member>>;

const Manifest = Type.Object({
  program: Type.Enum(["agent", "server"]),
  /** Version of the program that made the backup. */
  version: Type.String({ pattern: textForm("^[\\w.+-]{1,64}$", "a version such as 1.2.0") }),
  /** Version of the database's schema. */
  schema: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  /** ISO 8601. The backup has every commit before this time. */
  made_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
  /** The machine and data folder. Only backups of the same source replace each other. */
  source: Type.String({ maxLength: 5000, pattern: textForm("^\\P{Cc}*$", "text without control characters") }),
  /** Images whose file was missing. */
  missing: Type.Integer({ minimum: 0 }),
  members: Type.Array(Member, { minItems: 1 }),
});
export type Manifest = Readonly<Omit<Static<typeof Manifest>, "members">> & { readonly members: readonly Member[] };

const compiled = compileLater(Manifest);

/** Reads a list of contents. `bytes` are those before it in the file. @throws Error with its first faults */
export function parseManifest(text: string, bytes: number): Manifest {
  const value = parsed(text);
  if (!compiled.Check(value)) throw new Error(problems(compiled, value, FAULTS_MAX).join("; "));
  if (Number.isNaN(Date.parse(value.made_at)))
    throw new Error(`made_at is ${value.made_at}, expected a time that exists`);
  const fault = memberFault(value.members, bytes);
  if (fault !== null) throw new Error(fault);
  return value;
}

function parsed(text: string): unknown {
  const found = jsonFault(text, VALUES_MAX);
  if (found !== null) throw new Error(`it ${found.fault}`);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`it is not JSON (${errorMessage(error)})`, { cause: error });
  }
}

/** Members fill the file one after the other: no two share bytes, so that a restore writes no more than the backup holds. */
function memberFault(members: readonly Member[], end: number): string | null {
  const names = new Set<string>();
  let offset = 0;
  for (const [index, member] of members.entries()) {
    const what = `members/${index}`;
    if (member.offset !== offset) return `${what}/offset is ${member.offset}, expected ${offset}`;
    if (!isPlace(member.name)) return `${what}/name is ${shown(member.name)}, expected a path inside the backup`;
    if (names.has(member.name)) return `${what}/name is ${shown(member.name)}, which another member has already`;
    names.add(member.name);
    offset += member.bytes;
  }
  return offset === end ? null : `members end at byte ${offset}, expected ${end}`;
}

function isPlace(name: string): boolean {
  return !/[\p{Cc}\\]/u.test(name) && name.split("/").every((step) => !["", ".", ".."].includes(step));
}
