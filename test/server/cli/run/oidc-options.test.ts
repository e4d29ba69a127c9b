import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { type OidcOptions, singleSignOnOf, withOidcOptions } from "../../../../server/cli/run/oidc-options.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { temporaryFolder } from "../../harness.ts";

const ISSUER = "https://login.example.com/realms/clinics";
const clinic = newFp("clinic");

function files(roles = `{"group":"vets","clinic":"${clinic}","role":"staff"}\n`) {
  const folder = temporaryFolder();
  const [secret, mapping] = [join(folder, "secret"), join(folder, "roles.ndjson")];
  writeFileSync(secret, "hush\n", { mode: 0o600 });
  writeFileSync(mapping, roles);
  return { secret, mapping };
}

/** @returns the sign-in of a command line, or the sentence of its refusal */
async function read(line: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const command = withOidcOptions(new Command()).parse(line, { from: "user" });
  return singleSignOnOf(command.opts<OidcOptions>(), env).catch((error: Error) => error.message);
}

const named = (mapping: string) => ["--oidc-issuer", ISSUER, "--oidc-client-id", "vetwire", "--oidc-roles", mapping];

test("a server without options has no provider", async () => {
  expect(await read([])).toBeNull();
});

test("the secret comes from a private file or the environment, and the rows are read again at each sign-in", async () => {
  const { secret, mapping } = files();
  const found = await read([...named(mapping), "--oidc-client-secret-file", secret]);
  expect(await read(named(mapping), { VETWIRE_OIDC_CLIENT_SECRET: "hush" })).toHaveProperty("provider");
  if (found === null || typeof found === "string") throw new Error(`expected a provider, got ${found}`);
  expect(found.readRoles()).toEqual([{ group: "vets", clinic, role: "staff" }]);
  const heads = `{"group":"heads","clinic":"${clinic}","role":"admin"}`;
  writeFileSync(mapping, `\n${heads}\n\n{"group":"hosts","role":"operator"}\n`);
  expect(found.readRoles()).toEqual([
    { group: "heads", clinic, role: "admin" },
    { group: "hosts", role: "operator" },
  ]);
});

test("options that do not fit are refused with the remedy, and no sentence has the secret", async () => {
  const { secret, mapping } = files();
  const complete = [...named(mapping), "--oidc-client-secret-file", secret];
  expect(await read(["--oidc-client-id", "vetwire"])).toContain("need --oidc-issuer");
  expect(await read(["--oidc-issuer", ISSUER])).toContain("needs --oidc-client-id");
  expect(await read(["--oidc-issuer", ISSUER, "--oidc-client-id", "vetwire"])).toContain("needs --oidc-roles");
  expect(await read(named(mapping))).toContain("VETWIRE_OIDC_CLIENT_SECRET");
  expect(await read([...complete, "--oidc-scope", "profile"])).toContain("expected openid");
  for (const issuer of ["login.example.com", "https://u:p@login.example.com", "https://login.example.com?x=1"])
    expect(await read([...complete, "--oidc-issuer", issuer])).toContain("--oidc-issuer is not an address");
  chmodSync(secret, 0o644);
  const open = await read(complete);
  expect(open).toContain("chmod 600");
  expect(open).not.toContain("hush");
});

test("a row that gives no role is refused with its line", async () => {
  const good = `{"group":"vets","clinic":"${clinic}","role":"staff"}`;
  const rows: Record<string, string> = {
    "": "is empty",
    [`${good}\nvets=staff`]: "line 2 is not JSON",
    [`{"group":"vets","clinic":"${clinic}","role":"owner"}`]: 'line 1: role is "owner"',
    [`{"group":"","clinic":"${clinic}","role":"staff"}`]: "line 1: group",
    [`{"group":"vets","clinic":"ankara","role":"staff"}`]: "line 1: clinic is ankara",
    [good.replace("}", ',"also":1}')]: "line 1: also",
    [`{"group":"vets","role":"staff"}`]: "line 1: clinic is missing",
    [good.replace("staff", "operator")]: "expected none, because an operator has no clinic",
  };
  for (const [text, sentence] of Object.entries(rows)) {
    const { secret, mapping } = files(text);
    expect(await read([...named(mapping), "--oidc-client-secret-file", secret])).toContain(sentence);
  }
});
