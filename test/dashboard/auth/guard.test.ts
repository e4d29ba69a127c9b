import { expect, test } from "vitest";
import { defaultLimits } from "../../../server/http/rate-limit/rate-limiter.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, startLimitedServer } from "../../server/harness.ts";
import { makeUser } from "../harness.ts";

test("requests without a session count by their address, and those of a signed-in user do not", async () => {
  const fp = newFp("clinic");
  const server = await startLimitedServer({ ...defaultLimits, addressMinute: 3 }, clinic(fp));
  const user = await makeUser(server, "reader", fp);
  const ask = async (cookie?: string) => {
    const headers = cookie === undefined ? {} : { cookie };
    const response = await server.app.inject({ url: "/clinic/v1/session", headers });
    return response.statusCode;
  };
  const strangers = [await ask(), await ask("vetwire=unknown"), await ask(), await ask(), await ask("vetwire=unknown")];
  expect(strangers).toEqual([200, 200, 200, 429, 429]);
  expect(await ask(user.cookie)).toBe(200);
  server.clock.now += 60_000;
  expect(await ask()).toBe(200);
});

test("a session of a clock that was hours ahead ends twelve hours after its last use by the right clock", async () => {
  const fp = newFp("clinic");
  const server = await startLimitedServer(defaultLimits, clinic(fp));
  const ahead = 5 * 3_600_000;
  server.clock.now += ahead;
  const user = await makeUser(server, "reader", fp);
  const ask = async () => {
    const response = await server.app.inject({
      url: `/clinic/v1/clinics/${fp}/today`,
      headers: { cookie: user.cookie },
    });
    return response.statusCode === 401;
  };
  server.clock.now -= ahead;
  expect(await ask()).toBe(false);
  server.clock.now += 12 * 3_600_000 - 1;
  expect(await ask()).toBe(false);
  server.clock.now += 12 * 3_600_000;
  expect(await ask()).toBe(true);
});

test("a session of a clock that was years ahead has ended once the clock is right, also in those years", async () => {
  const fp = newFp("clinic");
  const server = await startLimitedServer(defaultLimits, clinic(fp));
  const years = 3 * 365 * 24 * 3_600_000;
  server.clock.now += years;
  const user = await makeUser(server, "reader", fp);
  const ask = async ({ cookie } = user) => {
    const { statusCode } = await server.app.inject({ url: `/clinic/v1/clinics/${fp}/today`, headers: { cookie } });
    return statusCode;
  };
  expect(await ask()).toBe(200);
  server.clock.now -= years;
  expect(await ask()).toBe(401);
  const other = await makeUser(server, "reader", fp);
  expect(await ask(other)).toBe(200);
  server.clock.now += years;
  expect(await ask()).toBe(401);
});

test("a write of a page that shows another user's name is refused, and the session stays", async () => {
  const fp = newFp("clinic");
  const server = await startLimitedServer(defaultLimits, clinic(fp));
  const [first, second] = [await makeUser(server, "admin", fp), await makeUser(server, "admin", fp)];
  const me = async (cookie: string) => {
    const response = await server.app.inject({ url: "/clinic/v1/session", headers: { cookie } });
    return response.json<{ user: { id: string } }>().user.id;
  };
  const today = async (shown: string) => {
    const headers = { cookie: second.cookie, "x-vetwire-user": shown };
    const response = await server.app.inject({ url: `/clinic/v1/clinics/${fp}/today`, headers });
    return [response.statusCode, response.json<{ error?: { code: string; message: string } }>().error];
  };
  expect(await today(await me(first.cookie))).toEqual([
    409,
    expect.objectContaining({
      code: "SESSION.OTHER_USER",
      message: `${second.name} is signed in now: load the page again.`,
    }),
  ]);
  expect(await today(await me(second.cookie))).toEqual([200, undefined]);
});
