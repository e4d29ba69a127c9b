import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSetupCode } from "../../../server/dashboard/auth/setup-code.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, startServer, temporaryFolder } from "../../server/harness.ts";
import { canMount, mountDisk, unmountDisk } from "../../support/machine/small-disk.ts";
import { makeUser } from "../harness.ts";

const user = { name: "İpek", password: "four brown dogs" };

test("a code is written for the file's owner alone, and read with any spacing and case", async () => {
  const { store } = await startServer();
  const folder = temporaryFolder();
  const made = await createSetupCode(store, folder);
  const file = join(folder, "setup-code");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toBe(`${made?.code}\n`);
  const code = made?.code ?? "";
  for (const text of [code, code.toLowerCase(), ` ${code.replaceAll("-", " ")} `])
    expect(made?.matches(text)).toBe(true);
  for (const text of ["", code.slice(1), `${code}A`, "AAAA-AAAA-AAAA"]) expect(made?.matches(text)).toBe(false);
  made?.end();
  expect(made?.matches(code)).toBe(false);
  expect(existsSync(file)).toBe(false);
});

test("the code of an earlier start stays, and a link or another text in its place is replaced", async () => {
  const { store } = await startServer();
  const folder = temporaryFolder();
  const elsewhere = join(temporaryFolder(), "other");
  writeFileSync(elsewhere, "kept");
  symlinkSync(elsewhere, join(folder, "setup-code"));
  const made = await createSetupCode(store, folder);
  expect(readFileSync(elsewhere, "utf8")).toBe("kept");
  const again = await createSetupCode(store, folder);
  expect(again?.code).toBe(made?.code);
  expect(again?.matches(made?.code ?? "")).toBe(true);
  writeFileSync(join(folder, "setup-code"), "AAAA\n");
  const last = await createSetupCode(store, folder);
  expect(readFileSync(join(folder, "setup-code"), "utf8")).toBe(`${last?.code}\n`);
  expect(last?.code).not.toBe(made?.code);
});

test.skipIf(!canMount())("a start on a full disk leaves the code of an earlier start", async () => {
  const { store } = await startServer();
  const folder = temporaryFolder();
  mountDisk(folder, 1);
  onTestFinished(() => unmountDisk(folder));
  const made = await createSetupCode(store, folder);
  const fill = openSync(join(folder, "fill"), "w");
  expect(() => {
    for (;;) writeSync(fill, Buffer.alloc(4096));
  }).toThrow("ENOSPC");
  closeSync(fill);
  await expect(createSetupCode(store, folder)).rejects.toThrow("ENOSPC");
  expect(readFileSync(join(folder, "setup-code"), "utf8")).toBe(`${made?.code}\n`);
});

test("a server with users makes no code and removes the file", async () => {
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  const folder = temporaryFolder();
  await createSetupCode(server.store, folder);
  await makeUser(server, "reader", fp);
  expect(await createSetupCode(server.store, folder)).toBeUndefined();
  expect(existsSync(join(folder, "setup-code"))).toBe(false);
});

test("the first user is admin of all clinics, and the code works once even at the same moment", async () => {
  const [first, second] = [newFp("clinic"), newFp("clinic")];
  const { app, setupCode } = await startServer(clinic(first), clinic(second));
  const setUp = (name: string, code = setupCode) =>
    app.inject({ method: "POST", url: "/clinic/v1/set-up", payload: { ...user, name, code } });
  expect((await setUp("x", "AAAA-AAAA-AAAA")).statusCode).toBe(401);
  const both = await Promise.all([setUp("İpek"), setUp("another")]);
  expect(both.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([200, 401]);
  expect((await setUp("third")).statusCode).toBe(401);
  const cookie = both
    .find(({ statusCode }) => statusCode === 200)
    ?.headers["set-cookie"]?.toString()
    .split(";")[0];
  const state = await app.inject({ url: "/clinic/v1/session", headers: { cookie: cookie ?? "" } });
  expect(state.json()).toMatchObject({
    state: "signed in",
    clinics: expect.arrayContaining([
      expect.objectContaining({ fp: first, role: "admin" }),
      expect.objectContaining({ fp: second, role: "admin" }),
    ]) as object[],
  });
});

test("a server without clinics gets its first one; without its name nothing is made", async () => {
  const { app, setupCode } = await startServer();
  const setUp = (more: object) =>
    app.inject({ method: "POST", url: "/clinic/v1/set-up", payload: { ...user, code: setupCode, ...more } });
  expect((await setUp({})).statusCode).toBe(400);
  expect((await setUp({ clinic_name: " " })).statusCode).toBe(400);
  expect((await app.inject("/clinic/v1/session")).json()).toEqual({ state: "set-up", has_clinics: false });
  expect((await setUp({ clinic_name: " Moda Veteriner " })).statusCode).toBe(200);
  expect((await app.inject("/clinic/v1/session")).json()).toEqual({ state: "signed out" });
});

test("wrong set-up codes of strangers, also at the same address, do not keep the first admin out", async () => {
  const { app, setupCode } = await startServer();
  const setUp = async (code: string, remoteAddress: string) => {
    const payload = { ...user, code, clinic_name: "Moda Veteriner" };
    return (await app.inject({ method: "POST", url: "/clinic/v1/set-up", payload, remoteAddress })).statusCode;
  };
  for (let tries = 0; tries < 200; tries += 1) {
    expect(await setUp("AAAA-AAAA-AAAA", tries % 2 ? "192.0.2.1" : `203.0.113.${tries}`)).toBe(401);
  }
  expect(await setUp(setupCode, "192.0.2.1")).toBe(200);
});
