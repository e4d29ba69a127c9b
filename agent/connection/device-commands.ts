import type { Config } from "../config/schema.ts";
import { readSpool, writeSpool } from "../spool/access.ts";
import type { Connection } from "./connection.ts";
import type { Lock } from "../report/device-report.ts";
import { profileById } from "../devices/index.ts";
import { type Directive, directiveOperationsOn } from "../spool/queries/device-commands.ts";
import { advice } from "../runtime/did-you-mean.ts";
import { directivePart } from "../protocols/poct1/topics.ts";
import { encodeParts } from "../protocols/poct1/message.ts";
import type { Spool } from "../spool/spool.ts";

// A person locks a point-of-care device, or unlocks it: typed beside the running agent, which tells the device as soon as it
// is connected. Of a device the last word counts.

const POLL_MS = 200;

/** @throws Error with a sentence */
export function placeDirective({ data, devices }: Config, device: string, command: Lock): Directive {
  const configured = devices.find(({ id }) => id === device);
  if (configured === undefined) {
    const ids = devices.map(({ id }) => id);
    throw new Error(`--device is ${device}, ${advice(device, ids)}`);
  }
  if (profileById(configured.profile)?.protocol !== "poct1a") {
    throw new Error(
      `--device is ${device}, whose profile ${configured.profile} cannot be locked: only POCT1-A devices can`,
    );
  }
  const directive: Directive = { device, command, at: Date.now(), state: "waiting", reason: null };
  writeSpool(data, (operations) => operations.placeDirective(directive));
  return directive;
}

/** What became of it: as soon as it is settled, at the latest when that time is up. */
export async function awaitDirective(data: string, directive: Directive, ms: number): Promise<Directive> {
  const until = performance.now() + ms;
  for (;;) {
    const last = readSpool(data, (db) => directiveOperationsOn(db).directiveOf(directive.device));
    if (last?.at === directive.at && last.state !== "waiting") return last;
    if (performance.now() > until) return directive;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The running agent's side: what waits is given to the connections. */
export class Directives {
  readonly #spool: Spool;
  readonly #connections = new Map<string, Connection>();
  /** By device, when what its connection has to tell was typed. */
  readonly #announced = new Map<string, number>();

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  serve(device: string, connection: Connection): void {
    this.#connections.set(device, connection);
  }

  /** Looks for what was typed since. */
  async check(): Promise<void> {
    for (const [device, connection] of this.#connections) {
      const directive = await this.#spool.call("directiveOf", device);
      if (directive?.state !== "waiting" || directive.at === this.#announced.get(device)) continue;
      this.#announced.set(device, directive.at);
      const settle = (state: Directive["state"], reason: string | null) =>
        this.#spool.callLater("settleDirective", { ...directive, state, reason });
      connection.announce({
        message: encodeParts([directivePart(directive.command)]),
        sent: () => settle("taken", null),
        refused: (reason) => settle("refused", reason),
      });
    }
  }
}
