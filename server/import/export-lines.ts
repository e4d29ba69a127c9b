import type { Session } from "../database/query.ts";
import { exportEntities } from "./export.ts";
import { selectEntities, type Selection } from "./select-entities.ts";

/** Writes the lines of an export: of all entities, or of those of a selection, whose clinic has the id. Each has its line end. */
export async function* exportLines(
  session: Session,
  clinicId: number | null,
  selection: Selection | null,
): AsyncGenerator<string> {
  const all = exportEntities(session, clinicId);
  const entities = selection === null ? all : selectEntities(session, all, selection);
  for await (const entity of entities) yield `${JSON.stringify(entity)}\n`;
}
