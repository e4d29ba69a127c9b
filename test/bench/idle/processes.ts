import { type ChildProcess, fork } from "node:child_process";
import path from "node:path";
import type { Order, Report } from "./agents.ts";

const SCRIPT = path.join(import.meta.dirname, "agents.ts");
const FAULTS_SHOWN = 5;

/** The agents of all processes, and what they have reported. */
export class IdleAgents {
  readonly #children: ChildProcess[];
  readonly faults: string[] = [];
  readonly arrivals: number[] = [];
  /** Agents that have read their lists. */
  begun = 0;
  /** Requests by route since the last call of `takeRequests`. */
  #requests = new Map<string, number>();
  /** Requests in each second of this machine's clock, by the time of the report. */
  readonly perSecond = new Map<number, number>();

  constructor(orders: readonly Order[]) {
    this.#children = orders.map((order) => {
      const child = fork(SCRIPT, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      child.on("message", (report: Report) => this.#note(report));
      child.send(order);
      return child;
    });
  }

  takeRequests(): ReadonlyMap<string, number> {
    const taken = this.#requests;
    this.#requests = new Map();
    return taken;
  }

  end(): void {
    for (const child of this.#children) child.kill("SIGKILL");
  }

  #note(report: Report): void {
    if ("arrivedAfterMs" in report) return void this.arrivals.push(report.arrivedAfterMs);
    this.begun += report.begun;
    const second = Math.floor(Date.now() / 1000);
    for (const [route, count] of Object.entries(report.requests)) {
      this.#requests.set(route, (this.#requests.get(route) ?? 0) + count);
      this.perSecond.set(second, (this.perSecond.get(second) ?? 0) + count);
    }
    this.faults.push(...report.faults.slice(0, FAULTS_SHOWN - this.faults.length));
  }
}
