import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { parse } from "yaml";
import { CODE_FOLDER } from "../../../shared/files/program-files.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { profiles } from "../../devices/index.ts";
import { shippedForm } from "../../devices/table/load.ts";

// The devices that the program reads, and the codes that each of them is known to send.

/** A device as its maker's data sheet would name it. */
export interface Device {
  readonly profile: string;
  readonly manufacturer: string;
  readonly model: string;
}

/** A code that a device sends, in one of its units. */
export interface TestCode {
  readonly profile: string;
  readonly code: string;
  /** Code of the catalogue. */
  readonly analyte: string;
  /** Null for a rank or a word. */
  readonly unit: string | null;
}

/** Returns the devices of the shipped profiles. A general profile represents any device of its protocol. */
export function devices(): Device[] {
  return profiles.filter(({ id }) => !id.startsWith("practice-")).map((profile) => deviceOf(profile));
}

/** Names of devices that studies name without their makers. */
const WITH_MAKER: Readonly<Record<string, string>> = {
  mythic: "Abbott CELL-DYN Emerald, Orphée Mythic 18, 22, Vet",
};

function deviceOf(profile: (typeof profiles)[number]): Device {
  const form = shippedForm(profile.id);
  const name = "device_name" in profile ? profile.device_name : null;
  const models = WITH_MAKER[profile.id] ?? form?.evidence?.models ?? name ?? "";
  // A name starts with its maker: `Abaxis VetScan VS2`, `URIT-5160`.
  const [, manufacturer, model] = /^(\p{L}+)(?:\s+|-(?=\d))(.+)$/u.exec(models) ?? [];
  if (manufacturer === undefined || model === undefined || isGeneral(profile.id)) {
    return { profile: profile.id, manufacturer: "any", model: profile.id };
  }
  return { profile: profile.id, manufacturer, model };
}

/** Whether a profile is of a protocol, and of no device. */
export function isGeneral(profile: string): boolean {
  return profile.startsWith("generic-");
}

const Rows = Type.Record(
  Type.String(),
  Type.Array(Type.Tuple([Type.String(), Type.String(), Type.Union([Type.String(), Type.Null()])])),
);
const validator = compileLater(Rows);

/** Returns the codes of agent/devices/test-codes.yaml, which are those in the fixtures. */
export function testCodes(): TestCode[] {
  const read: unknown = parse(readFileSync(join(CODE_FOLDER, "agent/devices/test-codes.yaml"), "utf8"), {
    schema: "core",
  });
  if (!validator.Check(read)) throw new Error("agent/devices/test-codes.yaml has an invalid row");
  return Object.entries(read).flatMap(([profile, rows]) =>
    rows.map(([code, analyte, unit]) => ({ profile, code, analyte, unit })),
  );
}
