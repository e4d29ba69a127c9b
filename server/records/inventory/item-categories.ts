import { query, type Session } from "../../database/query.ts";

/** Lists the categories of a clinic's items. */
export async function listCategories(session: Session, clinicId: number): Promise<string[]> {
  return (await session.all(categories, { clinicId })).map(({ category }) => category);
}

const categories = query((db, p: { clinicId: number }) =>
  db.selectFrom("inventory_item").select("category").distinct().where("clinic_id", "=", p.clinicId).orderBy("category"),
);
