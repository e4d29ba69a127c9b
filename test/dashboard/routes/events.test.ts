import { get, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic } from "../../server/harness.ts";
import { makeUser, startDashboard, type TestUser } from "../harness.ts";

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
  return { admin, user, news, path };
}

async function listen(url: string, { cookie }: TestUser): Promise<IncomingMessage> {
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
