import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { SERVER } from "../../support/machine/processes.ts";
import { clinic, connectTo, temporaryFolder } from "../harness.ts";

// Method: the commands run as real processes, from the build.

const fp = newFp("clinic");

function start(...command: string[]): ChildProcess {
  const { DATABASE_URL: _url, ...env } = process.env;
  return spawn(process.execPath, [SERVER, ...command], { env });
}

async function server(...command: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = start(...command);
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
  const [code] = (await once(child, "close")) as [number];
  return { code, ...output };
}

/** Imports one clinic. @returns the options that name the data folder */
async function dataWithClinic(): Promise<[string, string]> {
  const data = join(temporaryFolder(), "data");
  const file = join(temporaryFolder(), "clinic.ndjson");
  writeFileSync(file, JSON.stringify(clinic(fp)));
  expect(await server("import", file, "--data", data)).toMatchObject({ code: 0 });
  return ["--data", data];
}

interface RunningServer {
  readonly address: string;
  /** Everything that the server logged until now. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
  readonly post: (path: string, body: object, cookie?: string) => Promise<Response>;
}

async function run(...data: string[]): Promise<RunningServer> {
  const child = start("run", "--port", "0", ...data);
  onTestFinished(() => void child.kill("SIGKILL"));
  let log = "";
  let address: string | undefined;
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    log += String(chunk);
    address = /listening on (http:[^"]+)/.exec(log)?.[1];
    if (address !== undefined) break;
  }
  if (address === undefined) throw new Error(`the server ended: ${log}`);
  child.stdout?.on("data", (chunk) => (log += String(chunk)));
  const url = address;
  return {
    address: url,
    log: () => log,
    async stop() {
      child.kill("SIGTERM");
      await once(child, "close");
    },
    post: (path, body, cookie = "") =>
      fetch(`${url}/clinic/v1/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", cookie },
        body: JSON.stringify(body),
      }),
  };
}

test("users create, list and reset rule the sign-in of a running server", async () => {
  const data = await dataWithClinic();
  const made = await server("users", "create", "--clinic", fp, "--role", "admin", "--name", "Ayşe", ...data);
  expect(made).toEqual({ code: 0, stderr: "", stdout: expect.stringMatching(/^(\w{4}-){3}\w{4}\n$/) as string });
  const password = made.stdout.trim();
  expect(await server("users", "create", "--clinic", fp, "--role", "staff", "--name", "AYŞE", ...data)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("a user named AYŞE exists already") as string,
  });
  expect(await server("users", "create", "--clinic", fp, "--role", "owner", "--name", "x", ...data)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Allowed choices are reader, staff, admin") as string,
  });

  const listed = await server("users", "list", "--json", ...data);
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { name: "Ayşe", clinics: [{ fp, role: "admin" }], second_factor: false, disabled_at: null },
  ]);
  expect(listed.stdout).not.toContain("scrypt");
  expect((await server("users", "list", ...data)).stdout).toContain(`admin of ${fp}  Ayşe`);
  expect((await server("users", "list", "--clinic", newFp("clinic"), ...data)).code).toBe(1);

  const running = await run(...data);
  expect(running.log()).not.toContain("set up the dashboard");
  const signedIn = await running.post("sign-in", { name: "ayşe", password });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const isSignedIn = async () =>
    (await fetch(`${running.address}/clinic/v1/account`, { headers: { cookie } })).status === 200;
  expect(await isSignedIn()).toBe(true);

  const reset = await server("users", "reset", "Ayşe", ...data);
  expect(reset.code).toBe(0);
  expect(await isSignedIn()).toBe(false);
  expect((await running.post("sign-in", { name: "ayşe", password })).status).toBe(401);
  expect((await running.post("sign-in", { name: "ayşe", password: reset.stdout.trim() })).status).toBe(200);
  expect(await server("users", "reset", "nobody", ...data)).toMatchObject({ code: 1, stdout: "" });
  await running.stop();

  const audit = await server("audit", "--format", "json", ...data);
  expect(audit.stdout).toContain("users create --role admin");
  expect(audit.stdout).toContain("users reset");
  for (const text of [audit.stdout, running.log()]) {
    for (const secret of [password, reset.stdout.trim(), cookie.split("=")[1] ?? ""])
      expect(text).not.toContain(secret);
  }
});

test("the set-up code is a file for its owner alone, stays over starts, works once, and is not made when users exist", async () => {
  const data = await dataWithClinic();
  const file = join(data[1], "setup-code");
  const first = await run(...data);
  await expect.poll(first.log).toContain("set up the dashboard");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const code = readFileSync(file, "utf8").trim();
  expect(code).toMatch(/^([A-HJKMNP-Z2-9]{4}-){2}[A-HJKMNP-Z2-9]{4}$/);
  expect(first.log()).toContain(file);
  expect(first.log()).not.toContain(code);
  await first.stop();

  const second = await run(...data);
  expect(readFileSync(file, "utf8").trim()).toBe(code);
  const body = { name: "İpek", password: "four brown dogs" };
  expect((await second.post("set-up", { ...body, code: code.toLowerCase() })).status).toBe(200);
  expect(existsSync(file)).toBe(false);
  expect((await second.post("set-up", { ...body, name: "another", code })).status).toBe(401);
  await second.stop();

  const third = await run(...data);
  await third.stop();
  expect(existsSync(file)).toBe(false);
  expect(third.log()).not.toContain("set up the dashboard");
});

test("a user of the command line ends the set-up code of a running server", async () => {
  const data = await dataWithClinic();
  const running = await run(...data);
  const code = readFileSync(join(data[1], "setup-code"), "utf8").trim();
  await server("users", "create", "--clinic", fp, "--role", "admin", "--name", "Ayşe", ...data);
  const body = { name: "İpek", password: "four brown dogs", code };
  expect((await running.post("set-up", body)).status).toBe(401);
  const { state } = (await (await fetch(`${running.address}/clinic/v1/session`)).json()) as { state: string };
  expect(state).toBe("signed out");
});

test("an operator of the command line signs in at the console alone, and only while it is on", async () => {
  const data = await dataWithClinic();
  const added = await server("operators", "add", "--name", "ops", ...data);
  expect(added).toEqual({ code: 0, stderr: "", stdout: expect.stringMatching(/^[\w-]{16,}\n$/) as string });
  expect((await server("users", "list", "--json", ...data)).stdout.trim()).toBe("[]");
  const signIn = async (address: string, at: string) => {
    const response = await fetch(`${address}${at}/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ name: "ops", password: added.stdout.trim() }),
    });
    return response.status;
  };
  const off = await run(...data);
  expect(await signIn(off.address, "/operator/v1")).toBe(404);
  expect(await signIn(off.address, "/clinic/v1")).toBe(401);
  await off.stop();
  const on = await run(...data, "--operator-console");
  expect(await signIn(on.address, "/operator/v1")).toBe(200);
  expect((await server("operators", "remove", "ops", ...data)).code).toBe(0);
  expect(await signIn(on.address, "/operator/v1")).toBe(401);
  await on.stop();
  expect((await server("operators", "list", ...data)).stdout).toMatch(/disabled .*ops/);
  expect(await server("operators", "remove", "nobody", ...data)).toMatchObject({ code: 1, stdout: "" });
});

test("clinics that the operator makes are listed, suspended and served again, and the audit has each command", async () => {
  const data = ["--data", join(temporaryFolder(), "data")];
  const made = await server("clinics", "create", "--name", " Example clinic ", ...data);
  expect(made).toEqual({ code: 0, stderr: "", stdout: expect.stringMatching(/^clinic_\w{26}\n$/) as string });
  const clinicFp = made.stdout.trim();
  const listed = async () => JSON.parse((await server("clinics", "list", "--json", ...data)).stdout) as unknown;
  const described = { fp: clinicFp, name: "Example clinic", patients: 0, users: 1, agents: 0, suspended_at: null };
  expect(
    await server("users", "create", "--clinic", clinicFp, "--role", "admin", "--name", "a", ...data),
  ).toMatchObject({
    code: 0,
  });
  expect(await listed()).toEqual([described]);
  expect((await server("clinics", "suspend", clinicFp, ...data)).stdout).toBe(`${clinicFp} is suspended\n`);
  expect(await listed()).toEqual([{ ...described, suspended_at: expect.stringMatching(/^\d{4}-/) as string }]);
  expect((await server("clinics", "resume", clinicFp, ...data)).stdout).toBe(`${clinicFp} is served again\n`);
  expect(await listed()).toEqual([described]);
  expect(await server("clinics", "suspend", fp, ...data)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("does not exist, expected an fp that clinics list shows") as string,
  });
  expect(await server("clinics", "create", "--name", " ", ...data)).toMatchObject({ code: 1, stdout: "" });
  const audit = await server("audit", "--format", "json", ...data);
  for (const command of ["clinics create", "clinics suspend", "clinics resume"])
    expect(audit.stdout).toContain(command);
});

test("a clinic whose erasure began takes no key, no user, no ranges and no animals", async () => {
  const data = await dataWithClinic();
  const database = await connectTo(data[1]);
  await database.run(`update clinic set erasure = '{"ended_at":null}'`);
  await database.close();
  const [ranges, animals] = ["ranges.ndjson", "animals.csv"].map((name) => join(temporaryFolder(), name));
  writeFileSync(ranges!, "");
  writeFileSync(animals!, "name,species\nRex,dog\n");
  const to = ["--clinic", fp, ...data];
  for (const command of [
    ["keys", "create", "--name", "k", "--permissions", "clinic.calendar.view", ...to],
    ["users", "create", "--name", "a", "--role", "admin", ...to],
    ["ranges", "import", ranges!, ...to],
    ["import", animals!, ...to],
  ]) {
    const { code, stdout, stderr } = await server(...command);
    expect([command[0], code, stdout, stderr]).toEqual([
      ...[command[0], 1, ""],
      expect.stringContaining(`the erasure of clinic ${fp} has begun`),
    ]);
  }
});
