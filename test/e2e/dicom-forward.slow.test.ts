import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { imageFile } from "../../agent/image-store.ts";
import { dcmtk, run } from "../support/dcmtk.ts";
import { freePort, runAgentCommand, until, World } from "../support/processes.ts";

// Goal: an image goes on to the archive that the configuration names, whatever happens in between. Method: an agent that is a
// process of its own, killed while DCMTK's storescp is away.

let world: World;
let archive: ChildProcess | undefined;

beforeAll(async () => {
  if (dcmtk) world = await World.create(1);
});

afterAll(async () => {
  archive?.kill();
  await world?.end();
});

describe.skipIf(!dcmtk)("a destination in agent.yaml", () => {
  test("gets every image once it is there, after a SIGKILL too, and delays no study", async () => {
    const [port, archivePort] = [await freePort(), await freePort()];
    const received = path.join(world.folder, "archive");
    fs.mkdirSync(received);
    world.writeConfig([
      {
        ...{ id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` } },
        ...{ aeTitle: "VETWIRE", callingAeTitles: ["DX1"], quietSeconds: 1 },
      },
    ]);
    const config = JSON.parse(fs.readFileSync(world.config, "utf8")) as object;
    const destinations = [{ id: "pacs", dial: `127.0.0.1:${archivePort}`, aeTitle: "PACS" }];
    fs.writeFileSync(world.config, JSON.stringify({ ...config, destinations }));
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
    const files = await until("both are in the archive", () => {
      const names = fs.readdirSync(received);
      return names.length === 2 ? names : null;
    });
    const pixels = async (file: string) =>
      (await run("dcmdump", "-q", "+P", "0008,0018", "+P", "7fe0,0010", "+L", file)).output;
    const kept = messages.map(({ id }) => pixels(imageFile(world.agentData, id)));
    const sent = files.map((name) => pixels(path.join(received, name)));
    expect((await Promise.all(sent)).toSorted()).toEqual((await Promise.all(kept)).toSorted());
  });
});
