import { randomBytes } from "node:crypto";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { readSpool } from "../../agent/spool/access.ts";
import { listMessages, type MessageSummary } from "../../agent/spool/queries/messages/message-summaries.ts";
import { freePort, ROOT, temporaryFolder, until } from "../support/processes.ts";
import { type Block, blocksOf, commandsOf, exclusionReason, INSTALLING, LINES, readmes } from "../support/readme.ts";

// Goal: every block of a README works as written. Method: the test copies the repository to a temporary folder and processes the
// blocks in order. It runs a sh block in a shell and writes a block with a file name to that file. It adds other yaml blocks to
// agent.yaml, and expects other json blocks as studies in the output of npm start. Then it runs the commands of the command
// tables. A free port replaces a port in use, with a message.

const COMMAND_MS = 180_000;
/** Commands that run until a signal, with the output that shows they are ready. */
const READY = [
  [/^npm start$/, "Running until Ctrl-C."],
  [/server\S* (?:-- )?run/, "listening on"],
  [/agent\S* (?:-- )?run/, "the agent is running"],
  [/--follow/, "received"],
] as const;
const PORTS = [2575, 4001, 4010, 4020, 8080, 8081, 11112];

interface Study {
  readonly fp: string;
  readonly patient_fp: string;
  readonly acquired_at: string;
  readonly results: readonly { readonly analyte: string }[];
}

let folder: string;
const ports = new Map<number, number>();
const running: { readonly command: string; readonly child: ChildProcess }[] = [];
let printed = "";

beforeAll(async () => {
  folder = fs.realpathSync(temporaryFolder());
  for (const name of ["agent", "fixtures", "server", "shared", "package.json", "tsconfig.json"]) {
    fs.cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  fs.symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
  // Files that the READMEs expect: secrets, and a study that a user enters.
  const webhookSecret = `whsec_${randomBytes(32).toString("base64")}`;
  for (const [file, text] of [
    ["stow.token", "token"],
    ["s3.secret", "secret"],
    ["smtp.password", "password"],
    ["hook.secret", webhookSecret],
  ] as const) {
    fs.writeFileSync(path.join(folder, file), `${text}\n`, { mode: 0o600 });
  }
  const results = [{ analyte: "ALT", value: "150", unit: "U/L" }];
  const study = { modality: "BIOCHEMISTRY", acquired_at: "2026-01-01T09:00:00.000Z", results };
  fs.writeFileSync(path.join(folder, "study.json"), JSON.stringify(study));
  for (const port of PORTS) {
    const got = (await isFree(port)) ? port : await freePort();
    if (got !== port) print(`port ${port} is in use, port ${got} replaces it`);
    ports.set(port, got);
  }
});

afterAll(async () => {
  for (const { command } of [...running]) await end(command);
  fs.rmSync(folder, { recursive: true, force: true });
});

test("every command of the READMEs works as written", { timeout: 1_800_000 }, async () => {
  let dog: Study | null = null;
  for (const block of readmes().flatMap(blocksOf)) dog = (await runBlock(block)) ?? dog;

  // The simulated sample is the study in the README's json block.
  const [message] = await settled("chem-1");
  expect(message).toMatchObject({ state: "filed", study_fps: [expect.stringMatching(/^cds_/) as string] });
  const fp = message?.study_fps[0] ?? "";
  const exported = (await run("npm run --silent server -- export")).split("\n").filter((line) => line !== "");
  const entities = exported.map((line) => JSON.parse(line) as Study & { readonly type: string });
  expect(entities.filter((entity) => entity.fp === fp)).toEqual([
    expect.objectContaining({ ...dog, fp, results: expect.arrayContaining([...(dog?.results ?? [])]) as unknown }),
  ]);

  // Restarts the agent with the imaging device and the archives of the later blocks.
  await end("npm run agent -- run");
  await run("npm run agent -- run");
  const sent = fs.readFileSync(path.join(folder, "fixtures/mindray-bc/dog.hl7"), "latin1");
  fs.writeFileSync(path.join(folder, "unknown.hl7"), sent.replace("4711", "9999"), "latin1");
  await run(withPorts("npm run agent -- simulate unknown.hl7 --to tcp://127.0.0.1:2575"));
  const unmatched = (await settled("hema-1"))[0]?.study_fps[0];
  expect(unmatched).toMatch(/^cds_/);

  // Values are read at the time of use, since earlier commands create them.
  const listKeys = "npm run --silent server -- keys list --clinic clinic_01K9DEM0000000000000C00001 --json";
  const values: Record<string, () => string | undefined | Promise<string | undefined>> = {
    STUDY: () => fp,
    MESSAGE: () => message?.id,
    UNMATCHED: () => unmatched,
    KEY: async () =>
      (JSON.parse(await run(listKeys)) as { id: string; name: string }[]).find(({ name }) => name === "reader")?.id,
    IMAGE: () => inSpool(listMessages).find(({ device }) => device === "xray")?.id,
  };
  for (const line of LINES) {
    const [variable, name = ""] = /\$([A-Z]+)/.exec(line) ?? [];
    const filled = variable === undefined ? line : line.replace(variable, (await values[name]?.()) ?? `no ${name}`);
    // Runs the build, as README.md allows, since it starts three times as fast.
    const command = withPorts(filled).replaceAll(/npm run (server|agent) --/g, "node dist/$1/main.js");
    await run(command);
    if (isEndless(command)) await end(command);
  }
});

/** @returns the study in a json block; null for other blocks. @throws for an unknown kind of block */
async function runBlock(block: Block): Promise<Study | null> {
  const { language, file, place } = block;
  const text = withPorts(block.text);
  // install.slow.test.ts runs these on their systems.
  if (INSTALLING.includes(language)) return null;
  if (language === "sh") {
    for (const command of commandsOf({ ...block, text })) {
      await run(command);
      if (command === "npm start") await end(command);
    }
  } else if (file !== "") {
    fs.writeFileSync(path.join(folder, file), `${text}\n`);
    if (language === "yaml") await run(`npm run agent -- check --config ${file}`);
    if (language === "talk") await run(withPorts(`npm run agent -- simulate ${file} --to tcp://127.0.0.1:4001`));
  } else if (language === "yaml") {
    extendConfiguration(parse(text) as object);
    await run("npm run agent -- check");
  } else if (language === "json") {
    const { data } = JSON.parse(text) as { readonly data: Study };
    const analytes = data.results.map(({ analyte }) => analyte);
    const asShown = studiesIn(printed).map((study) => ({
      ...study,
      fp: data.fp,
      results: study.results.filter(({ analyte }) => analytes.includes(analyte)),
    }));
    const want = JSON.stringify(data);
    if (!asShown.some((study) => JSON.stringify(study) === want))
      throw new Error(`${place}: expected a command to print ${want}`);
    return data;
  } else if (!["text", "ts"].includes(language))
    throw new Error(`${place}: expected sh, text, json or yaml, got ${language}`);
  return null;
}

/** Adds devices, if `part` is a list, or other keys to agent.yaml. */
function extendConfiguration(part: object): void {
  const file = path.join(folder, "agent.yaml");
  const whole = parse(fs.readFileSync(file, "utf8")) as { readonly devices: readonly unknown[] };
  const extended = Array.isArray(part) ? { ...whole, devices: [...whole.devices, ...part] } : { ...whole, ...part };
  fs.writeFileSync(file, stringify(extended));
}

/** @returns the studies in multi-line JSON responses */
function studiesIn(text: string): Study[] {
  return [...text.matchAll(/^\{\n[^]*?\n\}$/gm)].map(([json]) => (JSON.parse(json) as { readonly data: Study }).data);
}

function isEndless(command: string): boolean {
  return READY.some(([pattern]) => pattern.test(command));
}

/** Runs a command until it ends or is ready. @returns its output. @throws if it fails */
async function run(command: string): Promise<string> {
  const reason = exclusionReason(command);
  if (reason !== null) {
    print(`${command}: skipped, ${reason}`);
    return "";
  }
  const isOnOtherPort =
    /server\S* (?:-- )?run/.test(command) && !command.includes("--port") && ports.get(8080) !== 8080;
  const child = spawn("sh", ["-c", isOnOtherPort ? `${command} --port ${ports.get(8080)}` : command], {
    cwd: folder,
    detached: true,
    env: { ...process.env, DATABASE_URL: undefined },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, errors] = ["", ""];
  child.stdout.on("data", (text) => {
    output += String(text);
    printed += String(text);
  });
  child.stderr.on("data", (text) => (errors += String(text)));
  running.push({ command, child });
  const ready = READY.find(([pattern]) => pattern.test(command))?.[1];
  if (ready === undefined) {
    await until(`${command} ends`, () => child.exitCode !== null && child.stdout.closed, COMMAND_MS);
    running.splice(
      running.findIndex((each) => each.child === child),
      1,
    );
    if (child.exitCode !== 0) throw new Error(`${command} ended with ${child.exitCode}: ${output}${errors}`);
    return output;
  }
  await until(
    `${command} prints ${ready}`,
    () => {
      if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${output}${errors}`);
      return output.includes(ready);
    },
    COMMAND_MS,
  );
  if (ready === "the agent is running") await until("the agent has fetched the patients", hasPatients, COMMAND_MS);
  return output;
}

/** Sends SIGINT to all processes of a command, as Ctrl-C does, and waits for its end. */
async function end(command: string): Promise<void> {
  const place = running.findIndex((each) => each.command === command);
  const [{ child }] = running.splice(place, 1) as [(typeof running)[number]];
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  process.kill(-child.pid, "SIGINT");
  await ended;
}

function hasPatients(): boolean {
  return inSpool((db) => Number(db.prepare("SELECT COUNT(*) FROM identifier").pluck().get()) > 0);
}

/** @returns the messages of a device once none is pending */
async function settled(device: string): Promise<readonly MessageSummary[]> {
  const own = () => inSpool(listMessages).filter((message) => message.device === device);
  return until(
    `the messages of ${device} are settled`,
    () => (own().length > 0 && own().every(({ state }) => state !== "pending") ? own() : null),
    COMMAND_MS,
  );
}

function inSpool<Result>(read: Parameters<typeof readSpool<Result>>[1]): Result {
  return readSpool(path.join(folder, "data/agent"), read);
}

function withPorts(text: string): string {
  return text.replaceAll(/(?<=:)\d{4,5}\b/g, (port) => String(ports.get(Number(port)) ?? port));
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer().once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
