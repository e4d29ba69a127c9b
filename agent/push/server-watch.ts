import { errorMessage } from "../../shared/runtime/error-message.ts";
import { SendError } from "../runtime/send-error.ts";
import type { Server } from "./server-client.ts";
import { NOT_ASKED_YET, type ServerState } from "../states/server-state.ts";

// Where the connection to the server stands, in words: read from what became of the agent's own requests.

const REACHED: Omit<ServerState, "since"> = { is: "reached", reason: null, isMinor: false };
const APPOINTMENTS = "/api/v1/calendar/";

/** The same server; `changed` is told each change of its state. */
export function watched(server: Server, changed: (state: ServerState) => void): Server {
  let state: Omit<ServerState, "since"> = NOT_ASKED_YET;
  /** Reasons, by the paths that the key may not use. */
  const forbidden = new Map<string, string>();

  const note = (path: string, error: unknown) => {
    const [route = ""] = path.split("?");
    if (error instanceof SendError && isForbidden(error)) forbidden.set(route, error.message);
    else if (error === null) forbidden.delete(route);
    const next = stateAfter(error, forbidden);
    if (next.is === state.is && next.reason === state.reason) return;
    state = next;
    changed({ ...state, since: Date.now() });
  };
  const watch = async (path: string, request: Promise<unknown>): Promise<unknown> => {
    try {
      const answer = await request;
      note(path, null);
      return answer;
    } catch (error) {
      note(path, error);
      throw error;
    }
  };
  return {
    get: (path) => watch(path, server.get(path)),
    post: (path, body) => watch(path, server.post(path, body)),
  };
}

function stateAfter(error: unknown, forbidden: ReadonlyMap<string, string>): Omit<ServerState, "since"> {
  const isMinor = false;
  if (error !== null && !(error instanceof SendError))
    return { is: "does not work", reason: errorMessage(error), isMinor };
  // Without a status the key's file cannot be read.
  if (error?.kind === "unauthorized" && !isForbidden(error)) return { is: "wrong key", reason: error.message, isMinor };
  if (error?.status === null) return { is: "cannot be reached", reason: error.message, isMinor };
  if (error !== null && isStranger(error)) return { is: "does not work", reason: error.message, isMinor };
  if (forbidden.size === 0) return REACHED;
  const reason = [...new Set(forbidden.values())].join("; ");
  return {
    is: "key lacks permission",
    reason,
    isMinor: [...forbidden.keys()].every((route) => route.startsWith(APPOINTMENTS)),
  };
}

/** Our server says so: a 403 of a proxy is none of the key's. */
function isForbidden({ kind, status }: SendError): boolean {
  return kind === "unauthorized" && status === 403;
}

/** Something else answers in the server's place, or the server is broken. */
function isStranger({ kind, status }: SendError): boolean {
  return kind === "uncertain" || status === 404 || status === 405;
}
