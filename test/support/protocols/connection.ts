import fs from "node:fs";
import { afterAll, beforeAll } from "vitest";
import { Connection } from "../../../agent/connection/connection.ts";
import type { MessageHandler, SendMessage } from "../../../agent/connection/device/device-session.ts";
import { MemoryBudget } from "../../../agent/connection/memory-budget.ts";
import type { Profile } from "../../../agent/devices/profile.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import type { StoredMessage } from "../../../agent/spool/queries/messages/message-row.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { temporaryFolder } from "../machine/processes.ts";
import { NO_EVENTS, TestClock, TestTransport } from "./wire.ts";
import { astmDevice } from "../clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");

interface TestDevice {
  readonly spool: Spool;
  readonly profile?: Profile;
  readonly memory?: MemoryBudget;
  /** Settles once the reply to a message is sent. */
  readonly replying?: Promise<void>;
  readonly file?: NonNullable<MessageHandler["file"]>;
}

let devices = 0;

/** Connects a new device to the agent through a test transport and a test clock. */
export function connectDevice({ spool, profile = genericAstm, memory, replying, file }: TestDevice) {
  const id = `dev-${++devices}`;
  const transport = new TestTransport();
  const clock = new TestClock();
  const messages: StoredMessage[] = [];
  const warnings: string[] = [];
  const refusals: string[] = [];
  /** The reply function of each message. */
  const sends: SendMessage[] = [];
  const handler: MessageHandler = {
    message(message, send) {
      messages.push(message);
      sends.push(send);
      return replying;
    },
    file: file ?? (() => Promise.resolve()),
  };
  const connection = new Connection({ id, profile, timeZone: "UTC" }, transport, {
    spool,
    events: {
      ...NO_EVENTS,
      warning: (reason) => void warnings.push(reason),
      refusal: (reason) => void refusals.push(reason),
    },
    messages: handler,
    setTimer: clock.setTimer,
    memory: memory ?? new MemoryBudget(),
  });
  connection.open();
  return { id, connection, transport, wire: transport.connect(), clock, messages, warnings, refusals, sends };
}

export type ConnectedTestDevice = ReturnType<typeof connectDevice>;

/** Opens one spool for all tests of a file. */
export function useFileSpool(): { readonly folder: string; readonly spool: Spool } {
  const used = { folder: "", spool: undefined as unknown as Spool };
  beforeAll(async () => {
    used.folder = temporaryFolder();
    used.spool = await Spool.open(used.folder);
  });
  afterAll(async () => {
    await used.spool.close();
    fs.rmSync(used.folder, { recursive: true });
  });
  return used;
}

export interface StoredSession {
  readonly session: number;
  readonly finished: 0 | 1;
  /** Kinds of its events in order, separated by spaces. */
  readonly kinds: string;
}

/** @returns the sessions of a device in the spool of that folder */
export function sessionsOf(device: string, folder: string): StoredSession[] {
  const select = `SELECT s.id AS session, s.finished_at IS NOT NULL AS finished,
      COALESCE((SELECT group_concat(kind, ' ') FROM (SELECT kind FROM event WHERE session = s.id ORDER BY id)), '') AS kinds
    FROM session s WHERE s.device = ? ORDER BY s.id`;
  return readSpool(folder, (db) => db.prepare(select).all(device)) as StoredSession[];
}
