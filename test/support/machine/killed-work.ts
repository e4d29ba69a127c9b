import http from "node:http";
import { once } from "node:events";
import { flushCompileCache } from "node:module";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Profile } from "../../../agent/devices/profile.ts";
import type { HeaderReader } from "../../../agent/imaging/files/header-reader.ts";
import { realTimer } from "../../../agent/runtime/timer.ts";
import { Spool } from "../../../agent/spool/spool.ts";

// A start of one stage of the agent on a data folder: `node killed-work.ts STAGE FOLDER`. An item named "bad" kills this process.

const [, , stage = "", folder = ""] = process.argv;
const die = (): never => {
  flushCompileCache(); // for the next start, which does the same
  process.kill(process.pid, "SIGKILL");
  for (;;); // until the signal arrives
};

const spool = await Spool.open(folder);
const fault = (...values: readonly unknown[]) => {
  throw values.at(-1);
};
const deadly = new Proxy({} as Profile, { get: (_, name) => (name === "id" ? "bad" : die()) });
/** Each start loads its own stage alone. */
async function lookupOf() {
  const { createServerClient } = await import("../../../agent/push/server-client.ts");
  const { Directory } = await import("../../../agent/study/patient-directory.ts");
  const server = createServerClient("http://127.0.0.1:9", () => "sk_live_test", 100);
  return { spool, directory: new Directory(spool, server), matchPatientsByName: false };
}

const stages: Record<string, () => Promise<unknown>> = {
  async message() {
    const { Filing } = await import("../../../agent/study/filing.ts");
    const { astmDevice } = await import("../clinic/profiles.ts");
    const genericAstm = astmDevice("generic-astm");
    const { directory } = await lookupOf();
    const device = { profile: genericAstm, timeZone: "UTC", model: null };
    const deviceById = (id: string) => (id === "bad" ? { ...device, profile: deadly } : device);
    const filing = new Filing(spool, directory, deviceById, { outcomeStored: () => undefined, fault });
    await filing.acceptStored();
    await filing.rematch(["bad", "chem-1", "hema-1"]);
    await filing.idle();
  },
  async session() {
    const { recover } = await import("../../../agent/connection/recovery.ts");
    const { astmDevice } = await import("../clinic/profiles.ts");
    const genericAstm = astmDevice("generic-astm");
    await recover(spool, (id) => (id === "bad" ? deadly : genericAstm));
  },
  async images() {
    const { StudyAssembly } = await import("../../../agent/imaging/study-assembly.ts");
    // Each start reads the header again.
    const lookup = { ...(await lookupOf()), spool: { call: spool.call.bind(spool), callLater: () => undefined } };
    const passed = ["then", "toJSON"]; // promises and JSON read these
    const header = new Proxy({}, { get: (_, name) => (passed.includes(String(name)) ? undefined : die()) });
    const read = async ({ file }: { file: string }) => (file.includes("bad") ? { header } : { problem: "none" });
    const device = { timeZone: "UTC", modality: null };
    const headers = { read } as unknown as HeaderReader;
    const events = { settled: () => undefined, fault };
    const assembly = new StudyAssembly({ data: folder, headers, deviceById: () => device, lookup }, events);
    assembly.wake();
    while ((await spool.call("nextImageStudy", Date.now(), [])) !== null) await wait(20);
    await assembly.stop();
  },
  async forward() {
    const { ForwardQueue } = await import("../../../agent/imaging/archive/forwarding.ts");
    // The archive takes the connection, and the process ends within the request.
    const archive = http.createServer(die).listen(0, "127.0.0.1");
    await once(archive, "listening");
    const { port } = archive.address() as AddressInfo;
    const target = { id: "pacs", way: "stow", url: `http://127.0.0.1:${port}`, authorizationFile: null } as const;
    const quiet = () => undefined;
    let isSetAside = false;
    const failed = () => void (isSetAside = true);
    const events = { sent: quiet, refused: quiet, failed, recovered: quiet };
    const queue = new ForwardQueue(folder, spool, target, events, { setTimer: realTimer, random: Math.random });
    queue.wake();
    while (!isSetAside) await wait(20);
    await queue.stop();
    archive.close();
  },
};

await stages[stage]!();
await spool.close();
