import type { Engine } from "./migrations.ts";

// The SQL of an SQLite database.

export const sqlite: Engine = {
  id: "integer primary key",
  orderedText: "text",
  now: "cast(unixepoch('subsec') * 1000 as integer)",
  shared: false,
  refuse: ({ name, event, table, when, unless = "false", message }) =>
    `create trigger ${name} before ${event} on ${table} when (${when}) and not (${unless})
      begin select raise(abort, '${message}'); end;`,
  optional: ({ again, index, create }) =>
    [
      `drop index ${index};`,
      ...again.map((table) => `alter table ${table} rename to ${table}_before;`),
      create,
      ...again.map((table) => `insert into ${table} select * from ${table}_before;`),
      // The tables that refer to the first one go before it.
      ...again.toReversed().map((table) => `drop table ${table}_before;`),
    ].join("\n"),
  allow: ({ name }) => `drop trigger ${name};`,
};
