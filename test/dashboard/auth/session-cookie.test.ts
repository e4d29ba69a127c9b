import fastify from "fastify";
import { expect, test } from "vitest";
import { startSession } from "../../../server/dashboard/auth/session-cookie.ts";
import { startRequestContext } from "../../../server/http/request-context.ts";
import { listSessionsOf } from "../../../server/records/users/sessions.ts";
import { findUser, setDisabled, setPassword, type StoredUser } from "../../../server/records/users/users.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, noon, startServer, type TestServer } from "../../server/harness.ts";
import { makeUser } from "../harness.ts";

/** Starts a session for a user as it was read before the password was checked. */
async function sessionFor({ store, pepper }: TestServer, user: StoredUser) {
  const app = fastify();
  startRequestContext(app);
  app.post("/", async (request, reply) => {
    await startSession({ store, pepper, now: () => noon }, { request, reply, user });
    return {};
  });
  return app.inject({ method: "POST", url: "/" });
}

const changes: [string, (server: TestServer, id: number) => Promise<void>][] = [
  ["a new password", ({ store }, id) => store.transaction((session) => setPassword(session, id, "another hash"))],
  ["an end of the account", ({ store }, id) => store.transaction((session) => setDisabled(session, id, noon))],
];

test.each(changes)("%s during a sign-in ends that sign-in, too", async (_change, change) => {
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  const { id } = await makeUser(server, "staff", fp);
  const read = await findUser(server.store, id);
  if (read === undefined) throw new Error("expected the user");
  expect((await sessionFor(server, read)).statusCode).toBe(200);
  const before = (await listSessionsOf(server.store, id, noon)).length;
  await change(server, id);
  const late = await sessionFor(server, read);
  expect([late.statusCode, late.headers["set-cookie"]]).toEqual([401, undefined]);
  expect((await listSessionsOf(server.store, id, noon)).length).toBe(before);
});
