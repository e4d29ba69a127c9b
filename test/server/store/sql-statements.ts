import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { vi } from "vitest";
import { migrationsFor } from "../../../server/store/database/migrations.ts";
import { postgres } from "../../../server/store/database/postgres-schema.ts";
import { sqlBuilder } from "../../../server/store/database/query.ts";
import type * as queries from "../../../server/store/database/query.ts";
import { ROOT } from "../../support/processes.ts";

// Every SQL text that the server sends to PostgreSQL: the queries of all modules, the migrations, and the fixed texts of the files
// that own sessions and locks.

export interface Statement {
  /** The file from the root, `migrations`, or `undo`. */
  readonly where: string;
  readonly sql: string;
}

const QUERY = "server/store/database/query.ts";
/** Folders whose modules define queries. */
const FOLDERS = ["server/store", "server/import"];
/** Files with fixed texts in place of queries. */
const FIXED = /^server\/store\/database\/postgres[\w-]*\.ts$/;

export interface Collected {
  readonly statements: readonly Statement[];
  /** Calls of query() in the sources that ran at no import, so that their statement is unknown. */
  readonly unseen: readonly string[];
}

/** Imports every module of the store anew and compiles each query that it defines. */
export async function collectStatements(): Promise<Collected> {
  const files = FOLDERS.flatMap(sourcesIn);
  const made: { readonly file: string; readonly compile: () => string }[] = [];
  let current = "";
  vi.resetModules();
  vi.doMock(path.join(ROOT, QUERY), async (original) => {
    const real = await original<typeof queries>();
    const recorded = (...given: Parameters<typeof real.query>) => {
      const query = real.query(...given);
      made.push({ file: callerOf(new Error("stack").stack ?? ""), compile: () => query.compile(builder).sql });
      return query;
    };
    return { ...real, query: recorded };
  });
  try {
    for (const file of files) {
      current = file;
      await import(path.join(ROOT, file));
    }
  } catch (error) {
    throw new Error(`${current} cannot be imported`, { cause: error });
  } finally {
    vi.doUnmock(path.join(ROOT, QUERY));
    vi.resetModules();
  }
  // A module may define what its queries use after them.
  const compiled = made.map(({ file, compile }) => ({ where: file, sql: compile() }));
  const unseen = files.filter((file) => callsIn(file) > made.filter((one) => one.file === file).length);
  return { statements: [...compiled, ...migrations(), ...fixed()], unseen };
}

const builder = sqlBuilder({
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});

function sourcesIn(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name}`);
}

function callsIn(file: string): number {
  if (file === QUERY) return 0;
  return (readFileSync(path.join(ROOT, file), "utf8").match(/(?<![.\w])query(?:<[^>()]*>)?\((?!\))/g) ?? []).length;
}

/** Returns the first file of the stack below the recorder. */
function callerOf(stack: string): string {
  const files = [...stack.matchAll(/(?<!test\/)\bserver\/[\w/-]+\.ts/g)].map(([file]) => file);
  return files.find((file) => file !== QUERY) ?? "";
}

function migrations(): Statement[] {
  return migrationsFor(postgres).flatMap(({ sql, undo }) => [
    ...separate(sql).map((text) => ({ where: "migrations", sql: text })),
    ...separate(undo ?? "").map((text) => ({ where: "undo", sql: text })),
  ]);
}

/** Separates statements, not at a semicolon within the body of a function. */
function separate(sql: string): string[] {
  const texts = sql.match(/(?:\$\$[\s\S]*?\$\$|[^;$]|\$(?!\$))+/g) ?? [];
  return texts.map((text) => text.trim()).filter((text) => text !== "");
}

/** Returns the texts of a file that begin with a word of SQL. Text of the migrations in it is counted there. */
function fixed(): Statement[] {
  return sourcesIn("server/store/database")
    .filter((file) => FIXED.test(file))
    .flatMap((file) => {
      const source = readFileSync(path.join(ROOT, file), "utf8").replace(
        /^export const postgres: Engine = \{[\s\S]*?^\};/m,
        "",
      );
      const texts = [...source.matchAll(/"([^"\n]*)"|`([^`]*)`/g)].map(
        ([, plain, template]) => plain ?? template ?? "",
      );
      const statements = texts.filter((text) =>
        /^\s*(select|insert|update|delete|begin|create|commit|lock)\b/.test(text),
      );
      return statements.map((sql) => ({ where: file, sql }));
    });
}
