import { errorMessage } from "../../shared/runtime/error-message.ts";
import { SendError } from "../runtime/send-error.ts";
import type { ServerClient } from "./server-client.ts";
import { NOT_ASKED_YET, type ServerState } from "../states/server-state.ts";

// Derives the state of the server from the outcomes of the agent's requests.

const REACHED: Omit<ServerState, "since"> = { is: "reached", reason: null, isMinor: false };
const APPOINTMENTS = "/api/v1/calendar/";

/** Wraps a client so that `changed` is called with each change of the server's state. */
export function watchServer(server: ServerClient, changed: (state: ServerState) => void): ServerClient {
  let state: Omit<ServerState, "since"> = NOT_ASKED_YET;
  /** Reasons by the route that the key may not use. */
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
      const body = await request;
      // A 404 is not a sign of the server: a proxy with a wrong path lacks every route.
      if (body !== null) note(path, null);
      return body;
    } catch (error) {
      note(path, error);
      throw error;
    }
  };
  // A proxy ends a silent request. The next one shows whether the server is away.
  const watchHeld = async (path: string, request: Promise<unknown>): Promise<unknown> => {
    const body = await request;
    if (body !== null) note(path, null);
    return body;
  };
  return {
    get: (path, held) => (held === undefined ? watch(path, server.get(path)) : watchHeld(path, server.get(path, held))),
    // A route of a later version proves nothing about the results' way.
    post: (path, body, mayLack) =>
      mayLack === undefined ? watch(path, server.post(path, body)) : server.post(path, body, mayLack),
    put: (path, body) => watch(path, server.put(path, body)),
    // Pictures and releases prove nothing about the results' way.
    putPng: (path, png) => server.putPng(path, png),
    download: (path, file, bytesMax) => server.download(path, file, bytesMax),
  };
}

function stateAfter(error: unknown, forbidden: ReadonlyMap<string, string>): Omit<ServerState, "since"> {
  const isMinor = false;
  if (error !== null && !(error instanceof SendError))
    return { is: "does not work", reason: errorMessage(error), isMinor };
  // Without a status the key file is unreadable.
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

/** Returns true for a 403 of our server. A 403 of a proxy proves nothing about the key. */
function isForbidden({ kind, status }: SendError): boolean {
  return kind === "unauthorized" && status === 403;
}

/** Returns true if another program responded, or the server refused or failed. */
function isStranger({ kind }: SendError): boolean {
  return kind === "uncertain";
}
