import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { demoClinics, demoEntities, demoFile } from "../../../server/demo/data.ts";
import type { AuditDescription } from "../../../server/records/audit/audit.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { type Body, study, temporaryFolder } from "../harness.ts";
import { patiently } from "../../support/runner/patience.ts";

// Method: the commands run as real processes, from the build.

describe("npm run server --", () => {
  test(
    "a command with a mistyped --data or a faulty file leaves no files",
    async () => {
      const [clinicFp, root] = [newFp("clinic"), temporaryFolder()];
      const [notes, none, faulty] = ["notes", "none/server", "faulty.ndjson"].map((name) => join(root, name));
      mkdirSync(notes!);
      writeFileSync(join(notes!, "a.txt"), "");
      writeFileSync(faulty!, "{}\n");
      const keys = ["keys", "create", "--clinic", clinicFp, "--name", "a", "--permissions", "clinic.patient.view"];
      const commands = [
        keys,
        ["keys", "list", "--clinic", clinicFp],
        ["keys", "revoke", "key_1"],
        ["import", join(root, "missing.ndjson")],
        ["import", faulty!],
        ["import", faulty!, "--owner", clinicFp],
        ["export"],
        ["export", join(root, "all.ndjson")],
        ["audit"],
        ["unmatched", "list"],
        ["users", "list", "--clinic", clinicFp],
        ["users", "create", "ada", "--clinic", clinicFp, "--role", "admin"],
        ["agents", "list", "--clinic", clinicFp],
        ["ranges", "list", "--clinic", clinicFp],
        ["releases", "list"],
        ["backup", join(root, "one.backup")],
        ["restore", join(root, "missing.backup")],
      ];
      for (const data of [notes!, none!]) {
        for (const command of commands) {
          const { code, stderr } = await server(...command, "--data", data);
          expect([command, code]).toEqual([command, 1]);
          expect([command, stderr]).not.toEqual([command, ""]);
        }
      }
      expect(readdirSync(root).toSorted()).toEqual(["faulty.ndjson", "notes"]);
      expect(readdirSync(notes!)).toEqual(["a.txt"]);
    },
    patiently(180_000),
  );

  test("import, keys and run set up a server in an empty folder, and revoking a key takes effect at the next request", async () => {
    const data = join(temporaryFolder(), "data");
    const file = writeDemo();
    const count = demoEntities().length;
    const imported = await server("import", file, "--data", data);
    expect(imported).toMatchObject({ code: 0, stdout: `${file}: ${count} new, 0 changed, 0 unchanged\n` });
    expect(imported.stderr).toContain("100 %");

    const copy = join(data, "copy.ndjson");
    expect(await server("export", copy, "--data", data)).toMatchObject({ code: 0, stdout: "", stderr: "" });
    // The file has owners' phones and e-mails.
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    const { stdout } = await server("export", "--data", data);
    expect(stdout).toBe(readFileSync(copy, "utf8"));
    expect(stdout.split("\n")).toHaveLength(count + 1);
    const unchanged = `${copy}: 0 new, 0 changed, ${count} unchanged\n`;
    expect(await server("import", copy, "--data", data)).toMatchObject({ code: 0, stdout: unchanged });

    const permissions = ["--permissions", "clinic.patient.view,clinic.lab.ingest"];
    const ofClinic = ["--clinic", demoClinics.kadikoy, "--data", data];
    const created = await server("keys", "create", ...ofClinic, "--name", "a test", ...permissions, "--expires", "90d");
    expect(created).toMatchObject({ code: 0, stderr: "" });
    expect(created.stdout).toMatch(/^sk_live_[0-9A-Za-z]{38}\n$/);
    const key = created.stdout.trim();

    const listed = await server("keys", "list", ...ofClinic, "--json");
    const [description] = JSON.parse(listed.stdout) as { id: string; key: string }[];
    expect(description).toMatchObject({
      id: expect.stringMatching(/^key_/) as string,
      name: "a test",
      type: "integration",
      permissions: ["clinic.patient.view", "clinic.lab.ingest"],
      key: `${key.slice(0, 12)}...${key.slice(-4)}`,
      revoked_at: null,
      last_used_at: null,
    });
    const plain = await server("keys", "list", ...ofClinic);
    for (const output of [listed, plain]) expect(output.stdout).not.toContain(key.slice(12, -4));

    const options = ["--rate-limit", "integration=50/70", "--rate-limit", "address=1", "--trust-proxy", "127.0.0.1"];
    const { process, address } = await run("--data", data, ...options, "--hide-unconnected");
    const total = async () => {
      const response = await fetch(`${address}/api/v1/patients`, { headers: { "x-api-key": key } });
      return response.ok ? ((await response.json()) as Body).data.total : response.status;
    };
    expect(await total()).toBe(4);
    const rolled = await server("keys", "roll", description?.id ?? "", "--grace", "24h", "--data", data);
    expect(rolled).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sk_live_[0-9A-Za-z]{38}\n$/) as string });
    expect(rolled.stderr).not.toContain(rolled.stdout.slice(12, 40));
    expect(await total()).toBe(4);
    expect(await server("keys", "revoke", description?.id ?? "", "--data", data)).toMatchObject({ code: 0 });
    expect(await total()).toBe(401);
    expect(await total()).toBe(429);
    const another = { headers: { "x-forwarded-for": "198.51.100.7" } };
    expect((await fetch(`${address}/api/v1/patients`, another)).status).toBe(401);
    const successor = { headers: { "x-api-key": rolled.stdout.trim() } };
    const { status, headers } = await fetch(`${address}/api/v1/patients`, successor);
    expect([status, headers.get("ratelimit-policy")]).toEqual([200, '"minute";q=50;w=60, "hour";q=70;w=3600']);

    const connections = demoEntities().filter((entity) => entity.type === "connection");
    const own = connections.filter(({ clinic_fp }) => clinic_fp === demoClinics.kadikoy);
    const foreign = connections.find(({ patient_fp }) => own.every((connected) => connected.patient_fp !== patient_fp));
    expect((await fetch(`${address}/api/v1/patients/${foreign?.patient_fp}`, successor)).status).toBe(404);

    const port = new URL(address).port;
    expect(await server("run", "--port", port, "--data", join(temporaryFolder(), "other"))).toMatchObject({
      code: 1,
      stderr: `port ${port} of 127.0.0.1 is in use, choose another with --port\n`,
    });
    process.kill("SIGTERM");
    expect(await once(process, "exit")).toEqual([0, null]);

    const audit = async (...asked: string[]) => (await server("audit", "--data", data, ...asked)).stdout.split("\n");
    const rows = (await audit("--format", "json")).slice(0, -1).map((line) => JSON.parse(line) as AuditDescription);
    // Rows of refusals follow the other rows of the same flush.
    expect(
      rows
        .map(({ key: id, status: answered, count: items }) => `${id === description?.id} ${answered} ${items}`)
        .toSorted(),
    ).toEqual([
      "false 200 4",
      "false 401 null",
      "false 404 null",
      "true 200 4",
      "true 200 4",
      "true 401 null",
      "true 429 null",
    ]);
    expect(await audit("--key", description?.id ?? "")).toHaveLength(5);
    expect(await audit("--clinic", demoClinics.kadikoy, "--format", "csv")).toHaveLength(8);
    expect(await audit("--since", "1h")).toHaveLength(8);
    expect(await audit("--until", rows[0]?.at ?? "")).toEqual([""]);
  });

  test("keys create --out writes a private new file, and creates no key if the file exists", async () => {
    const folder = temporaryFolder();
    const data = join(folder, "data");
    await server("import", writeDemo(), "--data", data);
    const ofClinic = ["--clinic", demoClinics.kadikoy, "--data", data];
    const out = join(folder, "agent.key");
    const create = () =>
      server("keys", "create", ...ofClinic, "--name", "a test", "--permissions", "clinic.lab.ingest", "--out", out);
    expect(await create()).toEqual({
      code: 0,
      stdout: "",
      stderr: `the key is in ${out}, which its owner alone can read\n`,
    });
    const key = readFileSync(out, "utf8");
    expect(key).toMatch(/^sk_live_[0-9A-Za-z]{38}\n$/);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(await create()).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("EEXIST") as string });
    expect(readFileSync(out, "utf8")).toBe(key);
    expect(JSON.parse((await server("keys", "list", ...ofClinic, "--json")).stdout)).toHaveLength(1);
  });

  test.skipIf(process.platform === "win32")(
    "run takes the rights of other users from the data folder",
    async () => {
      const data = join(temporaryFolder(), "data");
      await server("import", writeDemo(), "--data", data);
      const files = ["", "vetwire.db"].map((name) => join(data, name));
      const modes = () => files.map((file) => (statSync(file).mode & 0o777).toString(8));
      expect(modes()).toEqual(["700", "600"]);
      chmodSync(join(data, "vetwire.db"), 0o644);
      chmodSync(data, 0o755);
      await run("--data", data);
      expect(modes()).toEqual(["700", "600"]);
    },
    patiently(60_000),
  );

  test("unmatched lists a study of an unknown patient, and explain shows its time line", async () => {
    const folder = temporaryFolder();
    const data = join(folder, "data");
    await server("import", writeDemo(), "--data", data);
    const make = ["keys", "create", "--clinic", demoClinics.kadikoy, "--name", "a test", "--data", data];
    const key = (await server(...make, "--permissions", "clinic.lab.ingest,clinic.lab.view")).stdout.trim();
    const { address } = await run("--data", data);
    const result = { analyte: "ALT", value: 150, unit: "U/L", reference_range: null, flag: null };
    const ofDevice = { ...result, analyte: "\u001b[2J413", code_source: "device" as const };
    const sent = study({
      results: [result, ofDevice],
      source: { device_id: "chem-1", message_id: "1", sample_ids: ["A-17\n"] },
      patient_hint: { ...study().patient_hint, species: "Katze", name: "\u001b[2JPamuk\nfiled" },
    });
    const answer = await fetch(`${address}/agent/v1/studies`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ studies: [sent] }),
    });
    expect(await answer.json()).toMatchObject({ outcomes: [{ outcome: "unmatched" }] });
    const at = ["--data", data];
    const listed = (await server("unmatched", "list", ...at)).stdout;
    expect(listed).toContain(sent.fp);
    // Control characters of a device's text are escapes.
    expect([listed.includes("\u001b"), listed.includes("\\u001b[2JPamuk\\u000afiled")]).toEqual([false, true]);
    expect((await server("unmatched", "list", "--sample", "a-17", ...at)).stdout).toBe(listed);
    expect((await server("unmatched", "list", "--sample", "a-18", "--json", ...at)).stdout).toBe("[]\n");
    expect((await server("explain", sent.fp, ...at)).stdout).toMatch(/the sample[^]*unmatched: patient_fp is null/);
  });

  test("a killed server loses at most the last second of its audit", async () => {
    const data = join(temporaryFolder(), "data");
    await server("import", writeDemo(), "--data", data);
    const make = ["keys", "create", "--clinic", demoClinics.kadikoy, "--name", "a test", "--data", data];
    const key = (await server(...make, "--permissions", "clinic.inventory.view")).stdout.trim();
    const { process, address } = await run("--data", data, "--rate-limit", "integration=100000/100000");
    const answered: { id: string; at: number }[] = [];
    const lastMs = patiently(1_000);
    const earlier = (ms: number) => answered.filter(({ at }) => at < ms - lastMs);
    while (earlier(Date.now()).length < 150) {
      const { headers } = await fetch(`${address}/api/v1/inventory`, { headers: { "x-api-key": key } });
      answered.push({ id: headers.get("x-request-id") ?? "", at: Date.now() });
      await sleep(5);
    }
    process.kill("SIGKILL");
    const killedAt = Date.now();
    await once(process, "exit");

    const { stdout } = await server("audit", "--data", data);
    const old = earlier(killedAt);
    expect(old.length).toBeGreaterThan(100);
    expect(old.filter(({ id }) => !stdout.includes(id))).toEqual([]);
  });

  test("a second server with the same data folder is refused, and the set-up code of the first stays", async () => {
    const data = join(temporaryFolder(), "data");
    await run("--data", data);
    const code = readFileSync(join(data, "setup-code"), "utf8");
    expect(await server("run", "--port", "0", "--data", data)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`another server is running with ${data}: end it first, or choose another --data`),
    });
    expect(readFileSync(join(data, "setup-code"), "utf8")).toBe(code);
  });

  test("run and import create a database, and every other command reports a missing one", async () => {
    const data = join(temporaryFolder(), "typo");
    const there = {
      code: 1,
      stdout: "",
      stderr: `there is no database in ${data}, expected the --data folder that the server or an import has used\n`,
    };
    const [clinicFp, key, cds] = [newFp("clinic"), "key_1", newFp("cds")];
    const file = join(temporaryFolder(), "ranges.ndjson");
    writeFileSync(file, "");
    const commands = [
      ["export"],
      ["export", join(temporaryFolder(), "out.ndjson")],
      ["audit"],
      ["ranges", "import", file, "--clinic", clinicFp],
      ["ranges", "list", "--clinic", clinicFp],
      ["ranges", "export", "--clinic", clinicFp],
      ["unmatched", "list"],
      ["explain", cds],
      ["keys", "create", "--clinic", clinicFp, "--name", "x", "--permissions", "clinic.lab.view"],
      ["keys", "list", "--clinic", clinicFp],
      ["keys", "revoke", key],
      ["keys", "roll", key, "--grace", "24h"],
    ];
    const said = await Promise.all(
      commands.map(async (command) => [command, await server(...command, "--data", data)]),
    );
    expect(said).toEqual(commands.map((command) => [command, there]));
    expect(existsSync(data)).toBe(false);
    expect(await server("import", file, "--data", data)).toMatchObject({ code: 0 });
    expect(await server("export", "--data", data)).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("ranges import prints what changes, and replaces or removes rows only with --yes", async () => {
    const folder = temporaryFolder();
    const data = join(folder, "data");
    const clinicFp = newFp("clinic");
    const entities = join(folder, "clinic.ndjson");
    writeFileSync(entities, `${JSON.stringify({ type: "clinic", fp: clinicFp, name: "Ours" })}\n`);
    await server("import", entities, "--data", data);
    const file = join(folder, "ranges.csv");
    const of = (...rows: string[]) =>
      writeFileSync(file, ["id;species;analyte;unit;low;high;effective_from", ...rows].join("\r\n"));
    const importRanges = (...options: string[]) =>
      server("ranges", "import", file, "--clinic", clinicFp, "--data", data, ...options);
    of("a;dog;ALT;U/L;12,5;105;2026-01-01", "b;dog;AST;U/L;10;50;2026-01-01");
    expect(await importRanges("--dry-run")).toEqual({
      code: 0,
      stdout: `${file}: 2 rows, nothing stored\n`,
      stderr: "+ a  ALT 12.5-105 U/L  dog  from 2026-01-01\n+ b  AST 10-50 U/L  dog  from 2026-01-01\n",
    });
    expect((await importRanges()).stdout).toMatch(/: 2 rows, version [0-9a-f]{12}\n$/);
    of("a;dog;ALT;U/L;20;105;2026-01-01");
    const changes =
      "- b  AST 10-50 U/L  dog  from 2026-01-01\n~ a  ALT 20-105 U/L  dog  from 2026-01-01\n    low: 12.5 -> 20\n";
    expect(await importRanges()).toEqual({
      code: 1,
      stdout: "",
      stderr: `${changes}${file}: nothing was imported, since it replaces or removes 2 rows: add --yes\n`,
    });
    expect(await importRanges("--yes")).toMatchObject({ code: 0, stderr: changes });
    of('a;dog;ALT;U/L;20;105;"2026-01-01', "b;dog;AST;U/L;10;50;2026-01-01");
    expect(await importRanges("--yes")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^line 2: a quote opens and never closes.*\n.*nothing was imported\n$/) as string,
    });
  });

  test("export refuses to replace anything but a regular file, and leaves it unchanged", async () => {
    const folder = temporaryFolder();
    const data = join(folder, "data");
    await server("import", writeDemo(), "--data", data);
    const at = (name: string) => join(folder, name);
    execFileSync("mkfifo", [at("fifo"), at("draft.part")]);
    symlinkSync(data, at("link"));
    symlinkSync(at("nothing"), at("dangling"));
    mkdirSync(at("folder"));
    const socket = createServer().listen(at("socket"));
    onTestFinished(() => void socket.close());
    await once(socket, "listening");
    const refused = [
      [at("fifo"), at("fifo"), "a FIFO"],
      [at("draft"), at("draft.part"), "a FIFO"],
      [at("link"), at("link"), "a symbolic link"],
      [at("dangling"), at("dangling"), "a symbolic link"],
      [at("folder"), at("folder"), "a directory"],
      [at("socket"), at("socket"), "a socket"],
      ["/dev/null", "/dev/null", "a character device"],
    ] as const;
    const before = readdirSync(folder).toSorted();
    for (const [target, named, kind] of refused) {
      const stderr = `${named} is ${kind}, expected a regular file or a path without one\n`;
      expect(await server("export", target, "--data", data)).toEqual({ code: 1, stdout: "", stderr });
      expect([lstatSync(target, { throwIfNoEntry: false })?.isFile() ?? false, readdirSync(folder).toSorted()]).toEqual(
        [false, before],
      );
    }
    writeFileSync(at("old"), "old");
    expect(await server("export", at("old"), "--data", data)).toMatchObject({ code: 0 });
    expect(readFileSync(at("old"), "utf8").split("\n")).toHaveLength(demoEntities().length + 1);
  });

  test("an expected error is one sentence with the expected value, and exit code 1", async () => {
    const data = temporaryFolder();
    const faulty = join(data, "faulty.ndjson");
    writeFileSync(faulty, '{"type":"clinic","fp":"clinic_1","name":"x"}\n');
    const empty = join(data, "empty.ndjson");
    writeFileSync(empty, "");
    expect(await server("import", empty, "--data", data)).toMatchObject({ code: 0 });
    const unknown = newFp("clinic");
    const create = ["keys", "create", "--name", "x", "--data", data, "--clinic", unknown, "--permissions"];
    const expected: [string[], string][] = [
      [[...create, "clinic.lab.view"], `clinic ${unknown} does not exist, expected the fp of an imported clinic\n`],
      [[...create, "clinic.everything"], "clinic.everything unknown, expected some of clinic.patient.view, "],
      [["keys", "list", "--clinic", unknown, "--data", data], `clinic ${unknown} does not exist`],
      [["keys", "revoke", "key_1", "--data", data], "key key_1 does not exist, expected an id that keys list shows\n"],
      [["keys", "roll", "key_1", "--grace", "24h", "--data", data], "key key_1 does not exist, expected an id"],
      [["keys", "roll", "key_1", "--grace", "1w", "--data", data], "expected hours or days, such as 12h or 90d"],
      [["audit", "--since", "yesterday", "--data", data], "expected hours or days ago, such as 24h, or a time such as"],
      [["audit", "--key", "key_1", "--data", data], "key key_1 does not exist, expected an id that keys list shows\n"],
      [["audit", "--key", "key_1", "--clinic", unknown, "--data", data], "cannot be used with option '--clinic <fp>'"],
      [["run", "--rate-limit", "device=0/1", "--data", data], "expected such as device=120/3000, or address=600"],
      [["import", faulty, "--data", data], 'line 1: fp is "clinic_1", expected clinic_ and a ULID'],
      [["import", join(data, "none.ndjson"), "--data", data], "none.ndjson"],
      [["run", "--port", "99999", "--data", data], "expected 0 to 65535"],
      [["run", "--trust-proxy", "localhost", "--data", data], "expected an address or a range, such as 127.0.0.1 or"],
      [["run", "--trust-proxy", "10.0.0.0/33", "--data", data], "expected an address or a range, such as 127.0.0.1 or"],
    ];
    for (const [command, sentence] of expected) {
      const { code, stdout, stderr } = await server(...command);
      expect([command, code, stdout]).toEqual([command, 1, ""]);
      expect(stderr).toContain(sentence);
      expect(stderr).not.toContain("    at ");
    }
  });
});

function writeDemo(): string {
  const file = join(temporaryFolder(), "demo.ndjson");
  writeFileSync(file, demoFile());
  return file;
}

function start(...command: string[]): ChildProcess {
  // Runs the build (test/build.ts) without npm, so that a signal reaches the server itself.
  return spawn(process.execPath, ["dist/server/main.js", ...command]);
}

async function server(...command: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = start(...command);
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
  const [code] = (await once(child, "close")) as [number];
  return { code, ...output };
}

async function run(...command: string[]): Promise<{ process: ChildProcess; address: string }> {
  const child = start("run", "--port", "0", ...command);
  onTestFinished(() => void child.kill("SIGKILL"));
  let log = "";
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    log += String(chunk);
    const address = /listening on (http:[^"]+)/.exec(log)?.[1];
    if (address !== undefined) {
      child.stdout?.resume();
      return { process: child, address };
    }
  }
  throw new Error(`the server ended: ${log}`);
}
