import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { imageFile } from "../../../agent/imaging/files/image-folder.ts";
import { listImages } from "../../../agent/imaging/catalogue.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { dcmtk, run } from "../../support/protocols/dcmtk.ts";
import { patiently } from "../../support/runner/patience.ts";
import { freePort, runAgentCommand, until, World } from "../../support/machine/processes.ts";

// Goal: every image reaches the configured archive despite faults. Method: the agent process is killed while DCMTK's storescp is
// not running.

let world: World;
let archive: ChildProcess | undefined;

beforeAll(async () => {
  if (dcmtk) world = await World.create(1);
});

afterAll(async () => {
  archive?.kill();
  await world?.end();
});

/** Writes agent.yaml with an imaging device and other keys. */
function configure(port: number, others: object): void {
  world.writeConfig([
    {
      id: "xray",
      profile: "dicom",
      connection: { listen: `127.0.0.1:${port}` },
      aeTitle: "VETWIRE",
      callingAeTitles: ["DX1"],
      quietSeconds: 1,
    },
  ]);
  const config = JSON.parse(fs.readFileSync(world.config, "utf8")) as object;
  fs.writeFileSync(world.config, JSON.stringify({ ...config, ...others }));
}

const forwards = () => readSpool(world.agentData, (db) => listImages(db, null)).flatMap(({ forwards: each }) => each);

describe.skipIf(!dcmtk)("a destination in agent.yaml", () => {
  test("a destination gets every image once it runs, even after a SIGKILL, and delays no study", {
    timeout: patiently(60_000),
  }, async () => {
    const [port, archivePort] = [await freePort(), await freePort()];
    const received = path.join(world.folder, "archive");
    fs.mkdirSync(received);
    configure(port, { destinations: [{ id: "pacs", dial: `127.0.0.1:${archivePort}`, aeTitle: "PACS" }] });
    await world.startAgent();

    const target = `dicom://DX1@127.0.0.1:${port}/VETWIRE`;
    const patient = world.patients[0]!.externalId;
    runAgentCommand("simulate", "cr,us", "--to", target, "--patient", patient);
    const messages = await until("the studies are filed", () => {
      const all = world.messages();
      return all.length === 2 && all.every(({ state }) => state === "filed") ? all : null;
    });
    await world.agent.end("SIGKILL");

    archive = spawn("storescp", ["-od", received, "+B", String(archivePort)], { stdio: "ignore" });
    await world.startAgent();
    // The archive makes a file before it has written it.
    await until("both images are in the archive", () => forwards().every(({ state }) => state === "sent"));
    const files = fs.readdirSync(received);
    expect(files).toHaveLength(2);
    const pixels = async (file: string) =>
      (await run("dcmdump", "-q", "+P", "0008,0018", "+P", "7fe0,0010", "+L", file)).output;
    const kept = messages.map(({ id }) => pixels(imageFile(world.agentData, id)));
    const sent = files.map((name) => pixels(path.join(received, name)));
    expect((await Promise.all(sent)).toSorted()).toEqual((await Promise.all(kept)).toSorted());
  });

  test.each(["--abort-during", "--abort-after"])(
    "a destination that aborts (%s) gets every image later and delays no other destination",
    { timeout: patiently(120_000) },
    async (fault) => {
      await world.agent.end();
      archive?.kill();
      const [port, brokenPort, wellPort] = [await freePort(), await freePort(), await freePort()];
      const [broken, well] = [`broken${fault}`, `well${fault}`].map((name) => path.join(world.folder, name)) as [
        string,
        string,
      ];
      for (const folder of [broken, well]) fs.mkdirSync(folder);
      const destinations = [
        { id: "broken", dial: `127.0.0.1:${brokenPort}`, aeTitle: "PACS" },
        { id: "well", dial: `127.0.0.1:${wellPort}`, aeTitle: "PACS" },
      ];
      configure(port, { destinations });
      const peer = (at: number, folder: string, ...options: string[]) =>
        spawn("storescp", ["-od", folder, "+B", "+xa", ...options, String(at)], { stdio: "ignore" });
      const other = peer(wellPort, well);
      archive = peer(brokenPort, broken, fault);
      await world.startAgent();
      const target = `dicom://DX1@127.0.0.1:${port}/VETWIRE`;
      const patient = world.patients[0]!.externalId;
      runAgentCommand("simulate", "cr,us", "--to", target, "--repeat", "3", "--patient", patient);
      try {
        await until("the other archive has all images", () => fs.readdirSync(well).length === 6);
        await until("the destination aborts", () =>
          readSpool(world.agentData, (db) =>
            db
              .prepare("SELECT 1 FROM forward WHERE destination = 'broken' AND state = 'queued' AND attempts > 0")
              .get(),
          ),
        );
        const exited = once(archive, "exit");
        archive.kill("SIGKILL");
        await exited;
        for (const name of fs.readdirSync(broken)) fs.unlinkSync(path.join(broken, name));
        archive = peer(brokenPort, broken);
        const pixels = (folder: string) =>
          Promise.all(
            fs.readdirSync(folder).map(async (name) => {
              const file = path.join(folder, name);
              return (await run("dcmdump", "-q", "+P", "0008,0018", "+P", "7fe0,0010", "+L", file)).output;
            }),
          );
        await until("no image is pending", () => forwards().every(({ state }) => state === "sent"));
        expect((await pixels(broken)).toSorted()).toEqual((await pixels(well)).toSorted());
      } finally {
        other.kill();
      }
    },
  );
});
