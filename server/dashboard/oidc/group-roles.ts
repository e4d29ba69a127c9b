import { Type } from "typebox";
import { fpForm, isFp } from "../../../shared/api/fp.ts";
import { readTextFile } from "../../../shared/files/text-file.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { problems } from "../../../shared/schema/problems.ts";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import type { GroupRole } from "../context.ts";
import { includesRole, type Role, roles } from "../types/settings/session.ts";

// The roles that groups of the provider have in clinics and at the operator's console: a JSON row a line.

const Row = ClosedObject({
  group: Type.String({ minLength: 1, maxLength: 500 }),
  clinic: Type.Optional(Type.String()),
  role: Type.Union([...roles, "operator" as const].map((role) => Type.Literal(role))),
});
const compiled = compileLater(Row);

/** @throws Error with the line and the remedy */
export function readGroupRoles(file: string): GroupRole[] {
  const lines = readTextFile(file).split("\n");
  const rows = lines.flatMap((line, index) =>
    line.trim() === "" ? [] : [readRow(line, `${file}, line ${index + 1}`)],
  );
  if (rows.length > 0) return rows;
  throw new Error(`${file} is empty, expected lines such as {"group":"vets","clinic":"clinic_...","role":"staff"}`);
}

function readRow(line: string, place: string): GroupRole {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    throw new Error(`${place} is not JSON, expected {"group":"vets","clinic":"clinic_...","role":"staff"}`);
  }
  if (!compiled.Check(row)) throw new Error(`${place}: ${problems(compiled, row).join("; ")}`);
  const { group, clinic, role } = row;
  if (role === "operator") {
    if (clinic === undefined) return { group, role };
    throw new Error(`${place}: clinic is ${clinic}, expected none, because an operator has no clinic`);
  }
  if (clinic === undefined) throw new Error(`${place}: clinic is missing, expected ${fpForm("clinic")}`);
  if (!isFp("clinic", clinic)) throw new Error(`${place}: clinic is ${clinic}, expected ${fpForm("clinic")}`);
  return { group, clinic, role };
}

/** Returns the role of a person in each clinic, the greatest of all the person's groups. */
export function rolesOfGroups(groups: readonly string[], rows: readonly GroupRole[]): Map<string, Role> {
  const own = new Set(groups);
  const found = new Map<string, Role>();
  for (const row of rows) {
    if (!own.has(row.group) || row.role === "operator") continue;
    const before = found.get(row.clinic);
    if (before === undefined || includesRole(row.role, before)) found.set(row.clinic, row.role);
  }
  return found;
}

/** Whether a group of a person makes an operator. */
export function isOperatorByGroup(groups: readonly string[], rows: readonly GroupRole[]): boolean {
  return rows.some(({ group, role }) => role === "operator" && groups.includes(group));
}
