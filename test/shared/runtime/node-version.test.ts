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
  return { status: 1, stdout: "", stderr: `vetwire needs Node 20.19 or newer, this is ${version}\n` };
}

test.each(["agent/main.ts", "server/main.ts", "server/demo/main.ts", "shared/main.ts"])(
  "%s ends on an old Node with one line, before it does anything",
  (program) => {
    expect(run("v18.20.8", "--import", "tsx", program, "--help")).toEqual(refusal("v18.20.8"));
  },
);

test("the oldest accepted Node is that of package.json", () => {
  const source = fs.readFileSync(path.join(root, "shared/runtime/node-version.ts"), "utf8");
  const check = (version: string) => run(version, "--input-type=module", "--eval", source);
  for (const version of ["v8.17.0", "v20.9.0", "v20.18.3"]) expect(check(version)).toEqual(refusal(version));
  for (const version of ["v20.19.0", "v21.0.0", "v100.0.0"]) {
    expect(check(version)).toEqual({ status: 0, stdout: "", stderr: "" });
  }
  const { engines } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8")) as { engines: object };
  expect(engines).toEqual({ node: ">=20.19" });
});

// An old Node links all modules before it runs the first, and fails at a name that its own modules lack. This Node cannot
// show that, so the test lists the names that Node 18 lacks.
test("no module that the server loads at its start imports a name that Node 18 lacks", () => {
  const later =
    /import [^;{]*\{[^}]*\b(hash|crc32|getSystemErrorMessage|styleText|glob|globSync|stripTypeScriptTypes)\b[^}]*\} from "node:|"node:(sqlite|sea)"/;
  const files = ["server", "shared"].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .map((name) => path.join(root, folder, name)),
  );
  const sources = files.filter((file) => file.endsWith(".ts"));
  expect(sources.filter((file) => later.test(fs.readFileSync(file, "utf8")))).toEqual([]);
  expect(sources.length).toBeGreaterThan(50);
});
