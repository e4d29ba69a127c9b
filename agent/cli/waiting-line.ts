import { printable } from "../../shared/runtime/printable.ts";

/** One line of a terminal that changes while the program waits. Ctrl-C ends the waiting, and not the program. */
export class WaitingLine {
  #isStopped = false;
  readonly #stop = () => {
    this.#isStopped = true;
  };

  constructor() {
    process.on("SIGINT", this.#stop);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Shows a text in place of the last one, cut to the width of the terminal. */
  show(text: string): void {
    process.stdout.write(`\r\u001B[K${printable(text).slice(0, (process.stdout.columns ?? 80) - 1)}`);
  }

  /** Removes the line, and gives Ctrl-C its usual meaning back. */
  end(): void {
    process.off("SIGINT", this.#stop);
    process.stdout.write("\r\u001B[K");
  }
}
