import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { makePackages } from "../../../support/machine/packages.ts";
import {
  AGENT_KEY_OPTIONS,
  clinicFile,
  freePort,
  temporaryFolder,
  testPatients,
  until,
} from "../../../support/machine/processes.ts";

// Goal: the image of the server runs as it is. Method: podman loads and starts it, in a storage of its own. docker compose and a
// registry are missing on this machine, so compose.yaml and the Dockerfile are only read.

const TOOLS = ["podman", "runc", "mmdebstrap"];
const problem = imageProblem();
if (problem !== null) process.stderr.write(`the tests of the image do not run: ${problem}\n`);

function imageProblem(): string | null {
  if (process.getuid?.() !== 0) return "podman needs root here";
  const missing = TOOLS.filter((tool) => spawnSync(tool, ["--version"]).status !== 0);
  return missing.length === 0 ? null : `${missing.join(", ")} are missing (apt-get install ${missing.join(" ")})`;
}

const NAME = "vetwire-test";
const VERSION = "0.1.0";

let folder: string;
let file: string;

beforeAll(() => {
  if (problem !== null) return;
  folder = temporaryFolder();
  [file = ""] = makePackages("image", path.join(folder, "release"), "--release-version", VERSION);
}, 600_000);

afterAll(() => {
  if (folder === undefined) return;
  podman("rm", "--all", "--force");
  podman("rmi", "--all", "--force");
  // The storage is a mount of its own.
  spawnSync("umount", [path.join(folder, "podman/overlay")]);
  fs.rmSync(folder, { recursive: true, force: true });
});

function podman(...words: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const places = ["--root", path.join(folder, "podman"), "--runroot", path.join(folder, "podman-run")];
  return spawnSync("podman", [...places, "--log-level=fatal", ...words], { encoding: "utf8" });
}

/** Runs the image on this machine's network, within the limits of a machine that is a container itself. */
function run(...words: readonly string[]) {
  const limits = ["--runtime", "runc", "--ulimit", "nofile=512:512", "--ulimit", "nproc=512:512", "--network", "host"];
  return podman("run", ...limits, ...words);
}

describe.skipIf(problem !== null)("the image of the server", { timeout: 300_000 }, () => {
  test("runs as a user without rights on a read-only disk, and keeps its data in a volume", async () => {
    const loaded = podman("load", "--input", file);
    expect(loaded.stdout).toContain(`vetwire-server:${VERSION}`);
    const image = /vetwire-server:\S+/.exec(loaded.stdout)?.[0] ?? "";
    const clinic = path.join(folder, "clinic.ndjson");
    fs.writeFileSync(clinic, clinicFile(testPatients(1)));
    fs.chmodSync(folder, 0o755);
    const volume = ["--volume", "vetwire:/var/lib/vetwire/server"];
    const imported = run(
      "--rm",
      ...volume,
      "--volume",
      `${clinic}:/clinic.ndjson:ro`,
      image,
      "server",
      "import",
      "/clinic.ndjson",
    );
    expect(imported).toMatchObject({ status: 0 });

    const port = await freePort();
    const safe = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
    const started = run("--detach", "--name", NAME, ...safe, ...volume, image, "server", "run", "--port", String(port));
    expect(started).toMatchObject({ status: 0 });
    const url = `http://127.0.0.1:${port}`;
    await until("the server responds", () =>
      fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const made = podman("exec", NAME, "vetwire", "server", "keys", "create", ...AGENT_KEY_OPTIONS);
    const patient = await fetch(`${url}/api/v1/patients/${testPatients(1)[0]?.fp}`, {
      headers: { "x-api-key": made.stdout.trim() },
    });
    expect([patient.status, await patient.json()]).toMatchObject([200, { success: true }]);
    expect(podman("exec", NAME, "vetwire", "--version").stdout).toBe(`${VERSION}\n`);
    const top = podman("top", NAME, "user");
    expect(top.stdout.split("\n")[1]).toBe("vetwire");
    const stopped = podman("stop", NAME);
    expect(stopped.status).toBe(0);
    expect(podman("inspect", "--format", "{{.State.ExitCode}}", NAME).stdout).toBe("0\n");
  });

  test("the same sources give the same bytes, with a check of its health and no shell", () => {
    const [again = ""] = makePackages("image", path.join(folder, "again"), "--release-version", VERSION);
    expect(fs.readFileSync(again).equals(fs.readFileSync(file))).toBe(true);
    const manifest = JSON.parse(inArchive(file, "manifest.json")) as [{ Config: string; Layers: string[] }];
    const { config } = JSON.parse(inArchive(file, manifest[0].Config)) as {
      config: { Healthcheck: { Test: string[] } };
    };
    expect(config.Healthcheck.Test.join(" ")).toContain("/healthz");
    const docker = fs.readFileSync(path.join(path.dirname(file), "Dockerfile"), "utf8");
    expect(docker).toContain(`CMD ${JSON.stringify(config.Healthcheck.Test.slice(1))}`);
    expect(docker).toContain(`COPY vetwire-server_${VERSION}_amd64.deb `);
  });

  test("compose.yaml starts this image after PostgreSQL, reachable from its machine alone", () => {
    const compose = parse(fs.readFileSync(path.join(path.dirname(file), "compose.yaml"), "utf8")) as Compose;
    const { server, database } = compose.services;
    expect(server).toMatchObject({
      image: `vetwire-server:${VERSION}`,
      depends_on: { database: { condition: "service_healthy" } },
      ports: ["127.0.0.1:8080:8080"],
      volumes: ["server:/var/lib/vetwire/server"],
    });
    expect(database.healthcheck).toBeDefined();
    expect(Object.keys(compose.volumes)).toEqual(["server", "database"]);
  });
});

interface Compose {
  readonly services: { readonly server: object; readonly database: { readonly healthcheck?: object } };
  readonly volumes: object;
}

function inArchive(archive: string, name: string): string {
  return execFileSync("tar", ["-xOf", archive, name], { encoding: "utf8" });
}
