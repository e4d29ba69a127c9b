import { get, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic } from "../../../server/harness.ts";
import { makeOperator, makeUser, startDashboard, type TestUser } from "../../harness.ts";

afterEach(() => void vi.useRealTimers());

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];

/** Starts a server whose intervals the test moves on, with a user who listens for news. */
async function startListening() {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const server = await startDashboard(clinic(ours), clinic(theirs));
  const admin = await makeUser(server, "admin", ours, theirs);
  const user = await makeUser(server, "reader", ours, theirs);
  const news = await listen(server.url, user);
  const { users } = (await admin.call<{ users: { id: string; name: string }[] }>("GET", "/users")).body;
  const path = `/users/${users.find(({ name }) => name === user.name)?.id}`;
  return { server, admin, user, news, path };
}

async function listen(url: string, { cookie }: Pick<TestUser, "cookie">): Promise<IncomingMessage> {
  const request = get(`${url}/clinic/v1/clinics/${ours}/events`, { headers: { cookie } });
  const [news] = (await once(request, "response")) as [IncomingMessage];
  // The first event announces the stream.
  await once(news, "data");
  return news;
}

/** Whether the server ends the stream at its next sign of life, which is a comment line. */
async function endsAtNextPing(news: IncomingMessage): Promise<boolean> {
  const heard = new Promise<boolean>((resolve) => {
    news.on("end", () => resolve(true));
    // A notice of changes may come in the same part.
    news.on("data", (chunk) => void (/^:/m.test(String(chunk)) && resolve(false)));
  });
  await vi.advanceTimersByTimeAsync(15_000);
  return heard;
}

test("news go on while the session lasts", async () => {
  const { news } = await startListening();
  expect(await endsAtNextPing(news)).toBe(false);
  expect(await endsAtNextPing(news)).toBe(false);
});

test("news end with the session", async () => {
  const { user, news } = await startListening();
  await user.call("POST", "/clinic/v1/sign-out", {});
  expect(await endsAtNextPing(news)).toBe(true);
});

test("news end when the user leaves the clinic, although the session goes on in another one", async () => {
  const { admin, user, news, path } = await startListening();
  await admin.call("DELETE", path);
  expect(await endsAtNextPing(news)).toBe(true);
  expect((await user.call("GET", "/clinic/v1/account")).status).toBe(200);
});

test("news end when the operator suspends the clinic", async () => {
  const { server, news } = await startListening();
  const operator = await makeOperator(server);
  expect((await operator.call("POST", `/clinics/${ours}/suspend`, {})).status).toBe(200);
  expect(await endsAtNextPing(news)).toBe(true);
});

test("the news of an operator who looks into a clinic end with the hour, and with the next look", async () => {
  const { server } = await startListening();
  const operator = await makeOperator(server);
  const look = async (fp: string) => {
    const { headers } = await operator.call("POST", `/clinics/${fp}/support`, { reason: "ticket 7: nothing arrives" });
    return listen(server.url, { cookie: String(headers["set-cookie"]).split(";")[0] ?? "" });
  };
  const first = await look(ours);
  server.clock.now += 3_599_000;
  expect(await endsAtNextPing(first)).toBe(false);
  server.clock.now += 1000;
  expect(await endsAtNextPing(first)).toBe(true);
  const second = await look(ours);
  await operator.call("POST", `/clinics/${theirs}/support`, { reason: "ticket 8: nothing arrives" });
  expect(await endsAtNextPing(second)).toBe(true);
});
