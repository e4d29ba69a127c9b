import type { Engine } from "./migrations.ts";

// The SQL of an SQLite database.

export const sqlite: Engine = {
  id: "integer primary key",
  orderedText: "text",
  shared: false,
  refuse: ({ name, event, table, when, unless = "false", message }) =>
    `create trigger ${name} before ${event} on ${table} when (${when}) and not (${unless})
      begin select raise(abort, '${message}'); end;`,
  allow: ({ name }) => `drop trigger ${name};`,
};
