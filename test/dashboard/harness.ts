import { createHash, randomBytes, scryptSync } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { Role } from "../../server/dashboard/types/settings/session.ts";
import { insertSession } from "../../server/records/users/sessions.ts";
import { insertUser, setPassword, setRole } from "../../server/records/users/users.ts";
import { findClinic } from "../../server/records/clinics/keys.ts";
import { startServer, type TestServer } from "../server/harness.ts";
import { WAIT_MS } from "../support/runner/patience.ts";

// A server with signed-in users, for tests of /clinic/v1 and of the pages.

const YEAR_MS = 365 * 86_400_000;

/** The body of a refusal. */
export interface Refused {
  readonly error: { readonly code: string; readonly message: string; readonly details?: object };
}

/** A user with a session, and calls of /clinic/v1 in a clinic. */
export type TestUser = Awaited<ReturnType<typeof makeUser>>;

interface Answer<T> {
  readonly status: number;
  /** The parsed JSON; null for another type. */
  readonly body: T;
  readonly text: string;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Makes a user with a role in clinics; the calls go to the first one. The user has no usable password. */
export async function makeUser(
  { store, app, clock }: Pick<TestServer, "store" | "app" | "clock">,
  role: Role,
  ...clinicFps: [string, ...string[]]
) {
  const name = `${role} ${randomBytes(4).toString("hex")}`;
  const token = randomBytes(32).toString("base64url");
  const digest = createHash("sha256").update(token).digest("hex");
  const id = await store.transaction(async (session) => {
    const user = await insertUser(session, { name, password: "none", now: clock.now });
    if (user === undefined) throw new Error(`the name ${name} is taken`);
    for (const fp of clinicFps) {
      const clinic = await findClinic(session, fp);
      if (clinic === undefined) throw new Error(`clinic ${fp} is not imported`);
      await setRole(session, user.id, clinic.id, role);
    }
    const ends = { now: clock.now, expiresAt: clock.now + YEAR_MS };
    await insertSession(session, { digest, userId: user.id, ...ends, address: "127.0.0.1", browser: "a test" });
    return user.id;
  });
  const cookie = `vetwire=${token}`;
  return {
    id,
    name,
    /** The Cookie header of the session. */
    cookie,
    /** Calls `/clinic/v1/clinics/<clinic><path>`. A path that starts with `/clinic/v1/` is complete. */
    call: async <T = unknown>(
      method: Method,
      path: string,
      body?: unknown,
      requestId = randomBytes(16).toString("base64url"),
    ): Promise<Answer<T>> => {
      const url = path.startsWith("/clinic/v1/") ? path : `/clinic/v1/clinics/${clinicFps[0]}${path}`;
      const response = await app.inject({
        method,
        url,
        headers: {
          cookie,
          "sec-fetch-site": "same-origin",
          // As the page does.
          ...(method !== "GET" && { "idempotency-key": requestId }),
        },
        ...(body !== undefined && { payload: body as object }),
      });
      const isJson = response.headers["content-type"]?.toString().startsWith("application/json") === true;
      return { status: response.statusCode, body: (isJson ? response.json() : null) as T, text: response.body };
    },
  };
}

interface OperatorAnswer<T> extends Answer<T> {
  readonly headers: OutgoingHttpHeaders;
}

/** Makes an operator with a session of the console. Paths are below /operator/v1. */
export async function makeOperator({ store, app, clock }: Pick<TestServer, "store" | "app" | "clock">) {
  const name = `operator ${randomBytes(4).toString("hex")}`;
  const token = randomBytes(32).toString("base64url");
  const digest = createHash("sha256").update(token).digest("hex");
  const id = await store.transaction(async (session) => {
    const user = await insertUser(session, { name, password: "none", now: clock.now, isOperator: true });
    if (user === undefined) throw new Error(`the name ${name} is taken`);
    const ends = { now: clock.now, expiresAt: clock.now + YEAR_MS };
    const made = { digest, userId: user.id, realm: "operator" as const, address: "127.0.0.1", browser: "a test" };
    await insertSession(session, { ...made, ...ends });
    return user.id;
  });
  const cookie = `vetwire-operator=${token}`;
  return {
    id,
    name,
    cookie,
    call: async <T = unknown>(method: Method, path: string, body?: object): Promise<OperatorAnswer<T>> => {
      const headers = { cookie, "sec-fetch-site": "same-origin" };
      const url = `/operator/v1${path}`;
      const response = await app.inject({ method, url, headers, ...(body !== undefined && { payload: body }) });
      const isJson = response.headers["content-type"]?.toString().startsWith("application/json") === true;
      const parsed = (isJson ? response.json() : null) as T;
      return { status: response.statusCode, body: parsed, text: response.body, headers: response.headers };
    },
  };
}

/** Gives a user a password whose hash costs little. */
export async function givePassword({ store }: Pick<TestServer, "store">, userId: number, password: string) {
  const [salt, parameters] = [randomBytes(16), { N: 1024, r: 8, p: 1 }];
  const hash = scryptSync(password, salt, 32, parameters);
  const stored = `scrypt$1024$8$1$${salt.toString("base64")}$${hash.toString("base64")}`;
  await store.transaction((session) => setPassword(session, userId, stored));
}

/** Starts a server that also listens on a port, for a browser. */
export async function startDashboard(...entities: Parameters<typeof startServer>) {
  const server = await startServer(...entities);
  await server.app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = server.app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  /** Opens a page of the dashboard as a new user of one clinic or more. Faults of the page's console fail the test. */
  async function openAs(browser: Browser, role: Role, clinicFp: string, path = "", ...more: string[]): Promise<Page> {
    const { cookie } = await makeUser(server, role, clinicFp, ...more);
    const page = await openPage(browser, url);
    const [name = "", value = ""] = cookie.split("=");
    await page.context().addCookies([{ name, value, url, sameSite: "Strict", httpOnly: true }]);
    await page.goto(`${url}/dashboard${path}`);
    return page;
  }

  return { ...server, url, openAs };
}

/** Opens an empty page without a session. The test fails on a fault in the page's console, or a request to another host. */
export async function openPage(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1280, height: 900 } });
  // Half of a test, so that the step that waits is named and not the test alone.
  context.setDefaultTimeout(WAIT_MS / 2);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    // Chromium logs each response with an error status; tests check those themselves.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      faults.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url()))
      faults.push(`request to ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    if (faults.length > 0) throw new Error(`faults in the page: ${faults.join("; ")}`);
  });
  return page;
}
