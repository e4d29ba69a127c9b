import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkConfig } from "../../../../agent/config/check.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

// Goal: nobody who may change agent.yaml, at the PC or at the page, gets a file of the agent's user sent to himself or quoted.

let root: string;
let folder: string;

beforeAll(() => {
  root = temporaryFolder();
  folder = path.join(root, "etc");
  fs.mkdirSync(path.join(folder, "secrets"), { recursive: true });
  fs.mkdirSync(path.join(root, "etc-other"));
  for (const place of ["etc/agent.key", "etc/secrets/agent.key", "etc-other/agent.key", "other.key"]) {
    fs.writeFileSync(path.join(root, place), "sk_live_not-a-real-key\n");
  }
  for (const place of ["etc/token", "other.token"]) fs.writeFileSync(path.join(root, place), "Bearer x\n");
  fs.writeFileSync(path.join(folder, "operators.yaml"), "- { id: vt1 }\n");
  fs.writeFileSync(path.join(folder, "twice.yaml"), "a: hidden-words\na: 2\n");
  fs.writeFileSync(path.join(root, "operators.yaml"), "- { id: vt1 }\n");
  fs.symlinkSync(path.join(root, "other.token"), path.join(folder, "linked.token"));
  fs.symlinkSync(path.join(root, "other.key"), path.join(folder, "linked.key"));
  fs.symlinkSync(root, path.join(folder, "up"));
  fs.symlinkSync("secrets/agent.key", path.join(folder, "inner.key"));
});

afterAll(() => fs.rmSync(root, { recursive: true }));

interface Files {
  readonly key?: string;
  readonly token?: string;
  readonly secret?: string;
  readonly operators?: string;
}

/** Checks a configuration that names these files. */
function problemsWith({ key = "agent.key", token, secret, operators }: Files): string[] {
  const bucket = { endpoint: "https://s3.example", bucket: "images", accessKeyId: "A" };
  const config = {
    server: { url: "http://127.0.0.1:8080", keyFile: key },
    data: "./data",
    timeZone: "UTC",
    devices:
      operators === undefined
        ? []
        : [{ id: "p", profile: "generic-poct1a", connection: { dial: "h:1" }, operatorListFile: operators }],
    destinations: [
      ...(token === undefined ? [] : [{ id: "s", stow: "https://pacs.example", authorizationFile: token }]),
      ...(secret === undefined ? [] : [{ id: "b", s3: { ...bucket, secretFile: secret } }]),
    ],
  };
  const checked = checkConfig(JSON.stringify(config), folder);
  return "problems" in checked ? checked.problems.map(({ message }) => message) : [];
}

test("a file in the folder of agent.yaml is sent, also one of an inner folder and the target of a link that stays inside", () => {
  for (const key of ["agent.key", "./secrets/agent.key", "inner.key", path.join(folder, "agent.key")]) {
    expect(problemsWith({ key, token: "token", secret: "token", operators: "operators.yaml" })).toEqual([]);
  }
});

const OUTSIDE = [
  "../other.token",
  "/etc/hostname",
  "linked.token",
  "up/other.token",
  "secrets/../../other.token",
  "..",
  ".",
];

test.each([
  ["server.keyFile", "key", ["../other.key", "../etc-other/agent.key", "linked.key", "up/other.key"]],
  ["destinations[0].authorizationFile", "token", OUTSIDE],
  ["destinations[0].s3.secretFile", "secret", OUTSIDE],
  [
    "devices[0].operatorListFile",
    "operators",
    ["../operators.yaml", "up/operators.yaml", "/etc/shadow", "/no/such/file"],
  ],
] as const)(
  "%s outside the folder of agent.yaml is refused in words, without a word of the file",
  (name, role, files) => {
    for (const file of files) {
      const expected = `${name} names ${path.resolve(folder, file)}, expected a file in the folder ${folder}, because its content leaves this machine: move it there`;
      expect(problemsWith({ [role]: file })).toEqual([expected]);
    }
  },
);

test("the agent's key is not sent to an archive, and the check quotes no secret that is named as a list", () => {
  const key = path.join(folder, "agent.key");
  expect(problemsWith({ token: "agent.key" })).toEqual([
    `destinations[0].authorizationFile names ${key}, which cannot be used: it holds an API key of Vetwire, expected what the archive asks for`,
  ]);
  for (const operators of ["agent.key", "token", "twice.yaml"]) {
    const found = problemsWith({ operators });
    expect(found).toEqual([expect.stringContaining("which cannot be used")]);
    expect(found.join()).not.toMatch(/sk_live|Bearer|hidden-words/);
  }
});
