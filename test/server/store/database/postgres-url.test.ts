import { describe, expect, test } from "vitest";
import { readDatabaseUrl } from "../../../../server/store/database/postgres-url.ts";

const read = (url: string) => readDatabaseUrl(url, "DATABASE_URL");
const hosts = (url: string) => read(url).hosts;

describe("a database URL", () => {
  test("a URL with one host and no parameter of ours stays as it is", () => {
    for (const url of [
      "postgres://u:p@h:5432/db",
      "postgresql://h/db?sslmode=require&application_name=a%20b",
      "postgres://u:p%40%2F@[::1]:5433/db",
      "postgres://u@%2Frun%2Fpostgresql/db",
      "postgres:///db",
      "postgres://h",
    ]) {
      expect(read(url)).toEqual({ hosts: [url], target: null, connectMs: null });
    }
  });

  test("each host of a list gets a URL with the user, the database and the other parameters", () => {
    const url =
      "postgres://u:p,w@a:1,[::1]:2,c/db?connect_timeout=3&sslmode=require&target_session_attrs=read-write&load_balance_hosts=random";
    expect(read(url)).toEqual({
      hosts: ["a:1", "[::1]:2", "c"].map((host) => `postgres://u:p,w@${host}/db?sslmode=require`),
      target: "read-write",
      connectMs: 3000,
    });
  });

  test("the parameters host and port take the place of the authority, with one port for all hosts or one for each", () => {
    expect(hosts("postgres:///db?host=a,b&port=1,2")).toEqual(["postgres://a:1/db", "postgres://b:2/db"]);
    expect(hosts("postgres:///db?host=a,b&port=1")).toEqual(["postgres://a:1/db", "postgres://b:1/db"]);
    expect(hosts("postgres://u@a,b/db?port=7")).toEqual(["postgres://u@a:7/db", "postgres://u@b:7/db"]);
    expect(hosts("postgres:///db?host=/run/postgresql,::1&port=1,2")).toEqual([
      "postgres://%2Frun%2Fpostgresql:1/db",
      "postgres://[::1]:2/db",
    ]);
    expect(() => hosts("postgres:///db?host=a,b,c&port=1,2")).toThrow(
      "DATABASE_URL is invalid, expected one port for all hosts or one for each, got 2 for 3",
    );
  });

  test("the last of equal parameters wins, and a connect_timeout of 0 is the default", () => {
    expect(read("postgres://h/db?target_session_attrs=any&target_session_attrs=standby&connect_timeout=0")).toEqual({
      hosts: ["postgres://h/db"],
      target: "standby",
      connectMs: null,
    });
  });

  test("an error quotes no part of the URL", () => {
    const secret = "s3cret";
    for (const url of [
      `http://u:${secret}@h/db`,
      `postgres://u:${secret}@[h/db`,
      `postgres://u:${secret}@h:x/db`,
      `postgres://u@h:${secret}/db`,
      `postgres://u:${secret}@h:1:2/db`,
      `postgres://h/db?target_session_attrs=${secret}`,
      `postgres://h/db?connect_timeout=${secret}`,
      `postgres://h/db?host=%${secret}`,
      `postgres://u:x@${secret}@@h/db#`,
    ]) {
      let error: unknown;
      try {
        read(url);
      } catch (thrown) {
        error = thrown;
      }
      if (!(error instanceof Error)) throw new Error(`expected an error for ${url}`);
      expect(error.message).toMatch(/^DATABASE_URL is invalid, expected /);
      expect(`${error.message}${error.stack}`).not.toContain(secret);
    }
  });
});
