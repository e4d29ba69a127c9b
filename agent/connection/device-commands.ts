import type { Config } from "../config/values/schema.ts";
import { readSpool, writeSpool } from "../spool/access.ts";
import type { Connection } from "./connection.ts";
import type { Lock } from "../report/device-report.ts";
import { profileById } from "../devices/index.ts";
import { type DeviceCommand, deviceCommandOperationsOn } from "../spool/queries/devices/device-commands.ts";
import { advice } from "../runtime/did-you-mean.ts";
import { sleep } from "../runtime/timer.ts";
import { directivePart } from "../protocols/poct1/topics.ts";
import { encodeParts } from "../protocols/poct1/message.ts";
import type { Spool } from "../spool/spool.ts";

// The lock and unlock commands for point-of-care devices. The command line stores a directive in the spool, and the running
// agent sends it once the device is connected. A newer directive replaces an older one.

/** Interval between reads of the directive in awaitDirective(). */
const POLL_MS = 200;

/** Stores a directive for a configured POCT1-A device. @throws Error with the reason if there is no such device */
export function placeDirective({ data, devices }: Config, device: string, command: Lock): DeviceCommand {
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
  const directive: DeviceCommand = { device, command, at: Date.now(), state: "waiting", reason: null };
  writeSpool(data, (operations) => operations.placeDeviceCommand(directive));
  return directive;
}

/** Waits until the device has accepted or refused the directive, at most `ms`. @returns its last state */
export async function awaitDirective(data: string, directive: DeviceCommand, ms: number): Promise<DeviceCommand> {
  const until = performance.now() + ms;
  for (;;) {
    const last = readSpool(data, (db) => deviceCommandOperationsOn(db).deviceCommandOf(directive.device));
    if (last?.at === directive.at && last.state !== "waiting") return last;
    if (performance.now() > until) return directive;
    await sleep(POLL_MS);
  }
}

/** Passes the waiting directives to the connections of the running agent. */
export class Directives {
  readonly #spool: Spool;
  readonly #connections = new Map<string, Connection>();
  /** The time of each device's last announced directive. */
  readonly #announced = new Map<string, number>();

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  add(device: string, connection: Connection): void {
    this.#connections.set(device, connection);
  }

  /** Announces the directives that are new since the last check. */
  async check(): Promise<void> {
    for (const [device, connection] of this.#connections) {
      const directive = await this.#spool.call("deviceCommandOf", device);
      if (directive?.state !== "waiting" || directive.at === this.#announced.get(device)) continue;
      this.#announced.set(device, directive.at);
      const recordOutcome = (state: DeviceCommand["state"], reason: string | null) =>
        this.#spool.callLater("settleDeviceCommand", { ...directive, state, reason });
      connection.announce({
        message: encodeParts([directivePart(directive.command)]),
        sent: () => recordOutcome("taken", null),
        refused: (reason) => recordOutcome("refused", reason),
      });
    }
  }
}
