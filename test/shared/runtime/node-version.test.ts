import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

/** Runs Node with these arguments under another version number. */
function run(version: string, ...args: readonly string[]) {
  const spoof = `Object.defineProperty(process, "version", { value: ${JSON.stringify(version)} })`;
  const spoofed = ["--import", `data:text/javascript,${encodeURIComponent(spoof)}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...spoofed, ...args], {
    cwd: root,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

function refusal(version: string) {
  const remedy = "install it, or run npm ci with npm 11, which brings Node 24 (Linux, Windows, Intel Macs)";
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
