import type Database from "better-sqlite3";

// The marks of work that started and did not end (see tries.ts).

export type Work = "draw" | "forward" | "image study" | "message" | "session";

/** Part of operationsOn(). */
export function unfinishedTryOperationsOn(db: Database.Database) {
  const sql = {
    has: db.prepare("SELECT 1 FROM unfinished_try WHERE work = ? AND item = ?").pluck(),
    begin: db.prepare(
      `INSERT INTO unfinished_try (work, item, tries) VALUES (@work, @item, 1)
       ON CONFLICT DO UPDATE SET tries = tries + 1 WHERE tries < @most`,
    ),
    end: db.prepare("DELETE FROM unfinished_try WHERE work = ? AND item = ?"),
  };
  return {
    hasTries(work: Work, item: string): boolean {
      return sql.has.get(work, item) !== undefined;
    },

    /** Marks a try of an item. @returns false if `most` tries had no end; it is not marked then */
    beginTry(work: Work, item: string, most: number): boolean {
      return sql.begin.run({ work, item, most }).changes > 0;
    },
    endTries(work: Work, item: string): void {
      sql.end.run(work, item);
    },
  };
}
