import { cut, FromLauncher, type ToLauncher, VERSIONS_VARIABLE } from "./launcher-messages.ts";
import type { Expectation, Health } from "./versions.ts";
import { compileLater } from "../../schema/compile-later.ts";

// The launcher, as the program that it started sees it.

/** Time in which a launcher responds. Without a bound its silence would block every later upgrade. */
const ANSWER_MS = 30_000;

const fromLauncher = compileLater(FromLauncher);

export interface Parent {
  readonly folder: string;
  tell(health: Health): void;
  /** Requests an upgrade. @returns why the launcher refuses it; null if the program has to stop now */
  ask(version: string, expects: Expectation, byPerson: boolean): Promise<string | null>;
  refused(version: string, reason: string): void;
}

/** @returns the launcher; null if the program was started by hand */
export function findParent(): Parent | null {
  const folder = process.env[VERSIONS_VARIABLE];
  if (folder === undefined || process.send === undefined) return null;
  return {
    folder,
    tell: (health) => send({ is: "health", problems: health.problems.map(bounded), heartbeat: health.heartbeat }),
    ask(version, { heartbeat, known }, byPerson) {
      const answer = new Promise<string | null>((resolve) => {
        const end = (reason: string | null) => {
          clearTimeout(timer);
          unlisten();
          resolve(reason);
        };
        const timer = setTimeout(() => end("the launcher does not respond: restart the service"), ANSWER_MS);
        const unlisten = listen((message) => {
          if (message.is === "answer") end(message.reason);
        });
      });
      send({ is: "upgrade", version, expects: { heartbeat, known: known.map(cut) }, byPerson });
      return answer;
    },
    refused: (version, reason) => send({ is: "refused", version, reason: cut(reason) }),
  };
}

function send(message: ToLauncher): void {
  // A launcher that ended ends this process too.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** Waits for the order to stop: a signal, a word of the launcher, or the launcher's end. @returns what came */
export function stopOrder(): Promise<string> {
  return new Promise((resolve) => {
    // The handlers stay: a second signal does not interrupt the stop.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, resolve);
    if (process.send === undefined) return;
    listen((message) => {
      if (message.is === "stop") resolve("stop");
    });
    process.on("disconnect", () => resolve("the launcher ended"));
    // The channel alone keeps no program alive.
    process.channel?.unref();
  });
}

/** @returns what ends the listening */
function listen(listener: (message: FromLauncher) => void): () => void {
  const check = (message: unknown) => {
    if (fromLauncher.Check(message)) listener(message);
  };
  process.on("message", check);
  return () => process.off("message", check);
}

function bounded({ what, reason }: Health["problems"][number]): Health["problems"][number] {
  return { what: cut(what), reason: cut(reason) };
}
