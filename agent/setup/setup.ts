import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { SetupAnswer, SetupLine, SetupView } from "../page/types/setup.ts";
import { analyzersOf } from "../analyzers.ts";
import { checkConfig } from "../config/check.ts";
import { folderOf, markOf } from "../config/config-file.ts";
import type { ApplyOutcome, Host } from "../host.ts";
import { parseAddress } from "../transport/address.ts";
import { type HeardBytes, Listening, LISTENING_TIMES, type ListeningTimes, type ListenTo } from "./listening.ts";
import { lookAtFolder } from "./folder.ts";
import { reprocessFirst } from "./change-profile.ts";
import { type At, type Facts, type KnownServer, next, startState, type State, type Work } from "./steps.ts";
import { describeStep } from "./view.ts";

// The set-up of one agent: holds the state, and carries out the work of an answer. The terminal and the page share it.

/** Exchanges a code of the dashboard for a key file. @throws Error with what to do */
export type Pair = (wish: Pick<Work & { do: "pair" }, "url" | "code" | "name">) => Promise<KnownServer>;

export class Setup {
  readonly #host: Host;
  readonly #pair: Pair;
  readonly #times: ListeningTimes;
  #state: State;
  #turn = 1;
  #isBusy = false;
  #listening: { readonly listening: Listening; readonly stop: AbortController; readonly ended: Promise<void> } | null =
    null;

  constructor(host: Host, pair: Pair, times = LISTENING_TIMES) {
    this.#host = host;
    this.#pair = pair;
    this.#times = times;
    this.#state = startState(this.#facts());
  }

  async view(): Promise<SetupView> {
    const [turn, isBusy] = [this.#turn, this.#isBusy];
    const { config } = this.#facts();
    const step = await describeStep(this.#state, {
      config,
      host: this.#host,
      listening: this.#listening?.listening ?? null,
    });
    return { turn, step, isBusy };
  }

  /** Takes the answer to a step. @returns null, or a sentence with the fault and its remedy */
  async answer(turn: number, answer: SetupAnswer): Promise<string | null> {
    if (turn !== this.#turn || this.#isBusy) return "the set-up went on meanwhile: look at the step that it shows now";
    this.#isBusy = true;
    try {
      await this.#stopListening();
      // Listening ends in a step of its own.
      if (answer.to === "listening") return null;
      const found = next(this.#state, answer, this.#facts());
      if ("fault" in found) return found.fault;
      if ("to" in found) this.#enter(found.to);
      else this.#enter(await this.#carryOut(found.work));
      return null;
    } catch (error) {
      if (error instanceof TypeError || error instanceof RangeError) throw error;
      return errorMessage(error);
    } finally {
      this.#isBusy = false;
    }
  }

  /** Ends a listening, and leaves the configuration as it is. */
  async stop(): Promise<void> {
    await this.#stopListening();
  }

  #facts(): Facts {
    const { agent, file } = this.#host;
    const check = (text: string) => {
      const checked = checkConfig(text, folderOf(file));
      return "problems" in checked ? checked.problems.map(({ message }) => message) : [];
    };
    return {
      text: this.#host.text(),
      config: agent?.config ?? null,
      now: Date.now(),
      page: `127.0.0.1:${this.#host.port}`,
      check,
    };
  }

  #enter(state: State): void {
    this.#state = state;
    this.#turn += 1;
    if (state.at === "listening") this.#listen(state);
  }

  #listen({ line }: At<"listening">): void {
    const listening = new Listening(placeOfLine(line), this.#times);
    const stop = new AbortController();
    const heard = (samples: readonly HeardBytes[]) => {
      this.#listening = null;
      this.#enter({ at: "heard", line, heard: samples, problem: listening.problem });
    };
    const ended = listening.run(stop.signal).then(heard, (error: unknown) => {
      this.#host.log.error({ stage: "set-up", reason: errorMessage(error) }, "listening failed");
      heard([]);
    });
    this.#listening = { listening, stop, ended };
  }

  async #stopListening(): Promise<void> {
    const { stop, ended } = this.#listening ?? {};
    stop?.abort();
    await ended;
  }

  /** @throws Error with what to do */
  async #carryOut(work: Work): Promise<State> {
    switch (work.do) {
      case "pair":
        return { at: "place", server: await this.#pair(work) };
      case "look at folder":
        return { at: "folder", line: work.line, ...(await lookAtFolder(work.line, this.#facts().config)) };
      case "apply":
        await this.#apply(work.text);
        return work.enter;
      case "change profile": {
        await this.#apply(work.text);
        const { config } = this.#facts();
        if (config !== null) await reprocessFirst(config, analyzersOf(config), work.device, work.since);
        return { at: "first", device: work.device, since: work.since };
      }
    }
  }

  async #apply(text: string): Promise<void> {
    const outcome = await this.#host.apply(text, markOf(this.#host.text()));
    const fault = faultOf(outcome);
    if (fault !== null) throw new Error(fault);
  }
}

function faultOf(outcome: ApplyOutcome): string | null {
  switch (outcome.outcome) {
    case "applied":
      return null;
    case "refused":
      return outcome.problems.map(({ message }) => message).join("; ");
    case "rolled back":
      return `the agent does not start with it, so nothing changed: ${outcome.reason}`;
  }
}

/** A device may call any address of this PC. */
function placeOfLine(line: SetupLine): ListenTo {
  if (line.kind === "serial") return line;
  if (line.kind === "folder") throw new Error("a folder is not listened to: expected a line");
  if (line.kind !== "dial") return { kind: "listen", address: { host: "0.0.0.0", port: line.port } };
  const address = parseAddress(line.address);
  if (address === null) throw new Error("a line without an address: expected a checked answer");
  return { kind: "dial", address };
}
