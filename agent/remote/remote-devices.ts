import {
  type ConfigurationReport,
  DEVICES_CHARS_MAX,
  type DevicesProblem,
  WantedDevices,
} from "../../shared/api/configuration.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { readableOrigin } from "../config/exposures.ts";
import { lineIn } from "../runtime/yaml-lines.ts";
import { folderOf, markOf } from "../config/config-file.ts";
import type { Host } from "../host.ts";
import type { Config } from "../config/values/schema.ts";
import type { ConfigurationLink } from "../push/heartbeat.ts";
import { withoutFolders } from "../runtime/local-paths.ts";
import type { Spool } from "../spool/spool.ts";
import { bounded, openedBy, readDocument } from "./read-document.ts";
import { storeProfiles } from "./store-profiles.ts";
import { devicesText, withDevices } from "./with-devices.ts";

// The devices that an admin writes at the dashboard. The agent pulls them after a heartbeat that named a newer version, and
// reports the outcome with the next one. It pulls, because the router of a clinic admits no connection from outside.

/** The last version that this agent tried. */
interface Tried {
  readonly version: number;
  readonly problems: DevicesProblem[];
}

const TRIED_META = "configuration";

const wanted = compileLater(WantedDevices);

/** Makes the link of a host. */
export function remoteDevices(host: Host): ConfigurationLink {
  return new RemoteDevices(host);
}

class RemoteDevices implements ConfigurationLink {
  readonly #host: Host;
  #isBusy = false;
  /** A version that the server named where others could have changed it. It is not fetched. */
  #unsafe: Tried | null = null;

  constructor(host: Host) {
    this.#host = host;
  }

  async report(config: Pick<Config, "devices" | "managed" | "server">, spool: Spool): Promise<ConfigurationReport> {
    if (config.managed === false) return { managed: false, version: null, problems: [], devices: null };
    const unsafe = readableOrigin(config.server.url) === null ? null : this.#unsafe;
    const tried = unsafe ?? (await triedOf(spool));
    const devices = devicesText(config.devices);
    return {
      managed: true,
      version: tried?.version ?? null,
      problems: tried?.problems ?? [],
      devices: devices.length > DEVICES_CHARS_MAX ? null : devices,
    };
  }

  /** Follows a version in the background. The heartbeat that named it belongs to the agent that a change replaces. */
  wanted(version: number): void {
    const config = this.#host.agent?.config;
    if (this.#isBusy || config?.managed === false) return;
    const origin = config === undefined ? null : readableOrigin(config.server.url);
    this.#unsafe =
      origin === null ? null : { version, problems: bounded([{ line: 1, message: unsafeSentence(origin) }]) };
    if (this.#unsafe !== null) return;
    this.#isBusy = true;
    this.#follow(version)
      .catch((error: unknown) => {
        // The next heartbeat names the version again.
        this.#host.log.warn({ stage: "remote", reason: errorMessage(error) }, "the server's devices cannot be fetched");
      })
      .finally(() => {
        this.#isBusy = false;
      });
  }

  async #follow(version: number): Promise<void> {
    const { agent, log } = this.#host;
    if (agent === null) return;
    const tried = await triedOf(agent.spool);
    if (tried !== null && tried.version >= version) return;
    const { data } = ((await agent.server.get("/agent/v1/configuration")) ?? {}) as { data?: unknown };
    if (!wanted.Check(data)) throw new Error("invalid response: expected a version and its devices");
    const found = await this.#apply(data);
    if (found === null) return;
    // The folders of a PC often hold the name of a person, and they help nobody at the dashboard.
    const folders = [agent.config.data, folderOf(this.#host.file)];
    const problems = found.map(({ line, message }) => ({ line, message: withoutFolders(message, folders) }));
    const { spool } = this.#host.agent ?? agent;
    // A process that is killed before this line tries the version again, which changes nothing.
    await spool.call("setMeta", TRIED_META, JSON.stringify({ version: data.version, problems } satisfies Tried));
    log.info(
      { stage: "remote", version: data.version, problems: problems.length },
      "the devices of the server were tried",
    );
  }

  /** @returns the problems, none if the devices run; null if agent.yaml changed meanwhile, so that a later try is needed */
  async #apply({ devices: document, profiles = [] }: WantedDevices): Promise<DevicesProblem[] | null> {
    const text = this.#host.text();
    if (text === null) return null;
    const { agent } = this.#host;
    const unstored = agent === null ? [] : storeProfiles(agent.config.data, profiles, document);
    if (unstored.length > 0) return bounded(unstored);
    const read = readDocument(document, text, folderOf(this.#host.file));
    if ("problems" in read) return read.problems;
    const running = this.#host.agent?.config.devices ?? [];
    // Devices that run already need no other agent.
    if (devicesText(read.devices) === devicesText(running)) return [];
    const opened = openedBy(document, read.devices, running);
    if (opened.length > 0) return opened;
    const outcome = await this.#host.apply(withDevices(text, read.devices), markOf(text));
    switch (outcome.outcome) {
      case "applied":
        return [];
      case "rolled back":
        return bounded([{ line: 1, message: `the agent did not start with these devices: ${outcome.reason}` }]);
      case "refused":
        if (markOf(this.#host.text()) !== markOf(text)) return null;
        return bounded(outcome.problems.map(({ steps, message }) => ({ line: lineOf(steps, document), message })));
    }
  }
}

/** Results may go over plain http with a warning, but nobody else may decide where the agent listens and dials. */
function unsafeSentence(origin: string): string {
  return (
    `this agent reaches its server over ${origin}: anyone in that network could change these devices. ` +
    "Set server.url to https:// on the PC, or change the devices there"
  );
}

/** Finds the line of the document for a path in agent.yaml. A problem of another part has the first line. */
function lineOf([part, ...inDevices]: readonly string[], document: string): number {
  return part === "devices" ? lineIn(document, inDevices) : 1;
}

async function triedOf(spool: Spool): Promise<Tried | null> {
  const stored = await spool.call("getMeta", TRIED_META);
  return stored === null ? null : (JSON.parse(stored) as Tried);
}
