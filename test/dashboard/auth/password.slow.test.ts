import { expect, test } from "vitest";
import { hashPassword, isPassword, randomPassword } from "../../../server/dashboard/auth/password.ts";

test("a hash fits its own password alone, in either Unicode form", async () => {
  const stored = await hashPassword("güzel köpekler");
  expect(stored).toMatch(/^scrypt\$65536\$8\$1\$[\w+/=]{24}\$[\w+/=]{44}$/);
  expect(await isPassword("güzel köpekler".normalize("NFD"), stored)).toBe(true);
  for (const wrong of ["guzel kopekler", "güzel köpekler ", ""]) expect(await isPassword(wrong, stored)).toBe(false);
});

test("two hashes of one password differ", async () => {
  const [first, second] = [await hashPassword("four brown dogs"), await hashPassword("four brown dogs")];
  expect(first).not.toBe(second);
});

test("no password fits a missing hash or another scheme", async () => {
  for (const stored of [undefined, "none$65536$8$1$AAAA$AAAA"]) {
    expect(await isPassword("", stored)).toBe(false);
  }
});

test("older parameters still fit, since they are stored with the hash", async () => {
  const { scryptSync } = await import("node:crypto");
  const [salt, parameters] = [Buffer.alloc(16, 1), { N: 1024, r: 8, p: 1 }];
  const hash = scryptSync("four brown dogs", salt, 32, parameters).toString("base64");
  const stored = `scrypt$1024$8$1$${salt.toString("base64")}$${hash}`;
  expect(await isPassword("four brown dogs", stored)).toBe(true);
  expect(await isPassword("four brown cats", stored)).toBe(false);
});

test("a password has 10 to 256 characters, and the error does not repeat it", async () => {
  for (const password of ["xq7", "x".repeat(257)]) {
    await expect(hashPassword(password)).rejects.toThrow("expected 10 to 256 characters.");
    await expect(hashPassword(password)).rejects.not.toThrow(password);
  }
});

test("three simultaneous hashes all end", async () => {
  const stored = await hashPassword("four brown dogs");
  const asked = [1, 2, 3].map((number) => isPassword(number === 3 ? "four brown dogs" : "wrong", stored));
  expect(await Promise.all(asked)).toEqual([false, false, true]);
});

/** Cheap parameters, since the number of hashes counts. */
const cheap = `scrypt$1024$8$1$${Buffer.alloc(16, 1).toString("base64")}$${Buffer.alloc(32).toString("base64")}`;
const stranger = { isGone: () => false, isKnown: false };
const codeOf = (asked: Promise<boolean>) => asked.then(String, (error: { code?: string }) => error.code);

test("of a flood of sign-ins twenty wait, further ones are refused, and a client that has gone costs no work", async () => {
  const codes = await Promise.all(Array.from({ length: 25 }, () => codeOf(isPassword("wrong", cheap, stranger))));
  expect(codes.filter((code) => code === "SERVER.UNAVAILABLE")).toHaveLength(3);
  expect(codes.filter((code) => code === "false")).toHaveLength(22);
  const left = { ...stranger, isGone: () => true };
  const gone = Array.from({ length: 5 }, () => codeOf(isPassword("wrong", cheap, left)));
  expect(new Set(await Promise.all(gone))).toEqual(new Set(["REQUEST.TIMEOUT"]));
  expect(await isPassword("wrong", cheap, stranger)).toBe(false);
});

test("a flood of strangers neither refuses a known browser nor goes before it", async () => {
  // A hash asks whether its client has gone at the moment when it starts.
  const started: string[] = [];
  const startOf = (who: string) => () => {
    started.push(who);
    return false;
  };
  const flood = Array.from({ length: 30 }, () =>
    codeOf(isPassword("wrong", cheap, { isGone: startOf("stranger"), isKnown: false })),
  );
  expect(await isPassword("wrong", cheap, { isGone: startOf("known"), isKnown: true })).toBe(false);
  await Promise.all(flood);
  expect(started).toHaveLength(23);
  // Two of the flood have started before the known one came.
  expect(started.indexOf("known")).toBe(2);
});

test("passwords that the server makes differ and are easy to read", () => {
  const made = Array.from({ length: 100 }, randomPassword);
  expect(new Set(made).size).toBe(100);
  for (const password of made) expect(password).toMatch(/^([a-hjkmnp-z2-9]{4}-){3}[a-hjkmnp-z2-9]{4}$/);
});
