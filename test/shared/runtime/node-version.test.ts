import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/machine/processes.ts";

const root = path.resolve(import.meta.dirname, "../../..");

/** Runs Node with these arguments under another version number. */
function run(version: string, ...args: readonly string[]) {
  return runIn({}, version, ...args);
}

function runIn(env: Readonly<Record<string, string>>, version: string, ...args: readonly string[]) {
  const spoof = `Object.defineProperty(process, "version", { value: ${JSON.stringify(version)} })`;
  const spoofed = ["--import", `data:text/javascript,${encodeURIComponent(spoof)}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...spoofed, ...args], {
    cwd: root,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], ...env },
  });
  return { status, stdout, stderr };
}

function refusal(version: string) {
  const remedy = "install it, or run npm ci, which brings Node 24 (Linux, Intel Macs; with npm 11 also Windows)";
  return { status: 1, stdout: "", stderr: `vetwire needs Node 22.18 or newer, this is ${version}: ${remedy}\n` };
}

test.each(["agent/main.ts", "server/main.ts", "server/demo/main.ts", "shared/main.ts"])(
  "%s ends on an old Node with one line, before it does anything",
  (program) => {
    expect(run("v18.20.8", program, "--help")).toEqual(refusal("v18.20.8"));
  },
);

test("the oldest accepted Node is that of package.json", () => {
  const source = fs.readFileSync(path.join(root, "shared/runtime/node-version.mjs"), "utf8");
  const check = (version: string) => run(version, "--input-type=module", "--eval", source);
  for (const version of ["v8.17.0", "v20.20.2", "v22.17.1"]) expect(check(version)).toEqual(refusal(version));
  for (const version of ["v22.18.0", "v24.0.0", "v100.0.0"]) {
    expect(check(version)).toEqual({ status: 0, stdout: "", stderr: "" });
  }
  const { engines } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")) as { engines: object };
  expect(engines).toEqual({ node: ">=22.18" });
});

test("a script of npm on an old Node goes on under the Node of npm ci, whose link npm 10 removed", () => {
  const folder = temporaryFolder();
  const name = `node-${process.platform}-${process.arch}`;
  const bin = path.join(folder, "node_modules", name, "bin");
  fs.mkdirSync(bin, { recursive: true });
  fs.mkdirSync(path.join(folder, "node_modules/.bin"));
  fs.writeFileSync(path.join(folder, "node_modules", name, "package.json"), "{}");
  fs.writeFileSync(path.join(bin, "node"), '#!/bin/sh\necho "carried: $*"\nexit 7\n', { mode: 0o755 });
  const program = path.join(folder, "node-version.mjs");
  fs.copyFileSync(path.join(root, "shared/runtime/node-version.mjs"), program);
  for (const round of ["first", "second"]) {
    expect(run("v20.20.2", program)).toEqual(refusal("v20.20.2"));
    const { status, stdout, stderr } = runIn({ npm_lifecycle_event: "agent" }, "v20.20.2", program, "--port", round);
    expect({ status, stderr }).toEqual({ status: 7, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^carried: --import data:\\S+ ${program} --port ${round}\n$`));
  }
  const link = path.join(folder, "node_modules/.bin/node");
  expect(spawnSync(link, ["linked"], { encoding: "utf8" }).stdout).toBe("carried: linked\n");
});

test("each script of npm that runs our sources checks the Node first", () => {
  const { scripts } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")) as {
    scripts: Readonly<Record<string, string>>;
  };
  const check = "node --import ./shared/runtime/node-version.mjs ";
  const unchecked = Object.entries(scripts).filter(([, words]) =>
    words.split("&&").some((part) => /\bnode\b(?!.*vitest).*\.ts\b/.test(part) && !part.trim().startsWith(check)),
  );
  expect(unchecked).toEqual([]);
});
