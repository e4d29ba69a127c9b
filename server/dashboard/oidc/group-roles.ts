import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { fpForm, isFp } from "../../../shared/api/fp.ts";
import { readTextFile } from "../../../shared/files/text-file.ts";
import { problems } from "../../../shared/schema/problems.ts";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import type { GroupRole } from "../context.ts";
import { includesRole, type Role } from "../types/settings/session.ts";

// The roles that groups of the provider have in clinics: a JSON row a line.

const Row = ClosedObject({
  group: Type.String({ minLength: 1, maxLength: 500 }),
  clinic: Type.String(),
  role: Type.Union([Type.Literal("reader"), Type.Literal("staff"), Type.Literal("admin")]),
});
const compiled = Compile(Row);

/** @throws Error with the line and the remedy */
export function readGroupRoles(file: string): GroupRole[] {
  const lines = readTextFile(file).split("\n");
  const rows = lines.flatMap((line, index) =>
    line.trim() === "" ? [] : [readRow(line, `${file}, line ${index + 1}`)],
  );
  if (rows.length > 0) return rows;
  throw new Error(`${file} is empty, expected lines such as {"group":"vets","clinic":"clinic_...","role":"staff"}`);
}

function readRow(line: string, place: string): Static<typeof Row> {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    throw new Error(`${place} is not JSON, expected {"group":"vets","clinic":"clinic_...","role":"staff"}`);
  }
  if (!compiled.Check(row)) throw new Error(`${place}: ${problems(compiled, row).join("; ")}`);
  if (!isFp("clinic", row.clinic)) throw new Error(`${place}: clinic is ${row.clinic}, expected ${fpForm("clinic")}`);
  return row;
}

/** Returns the role of a person in each clinic, the greatest of all the person's groups. */
export function rolesOfGroups(groups: readonly string[], rows: readonly GroupRole[]): Map<string, Role> {
  const own = new Set(groups);
  const roles = new Map<string, Role>();
  for (const { group, clinic, role } of rows) {
    if (!own.has(group)) continue;
    const before = roles.get(clinic);
    if (before === undefined || includesRole(role, before)) roles.set(clinic, role);
  }
  return roles;
}
