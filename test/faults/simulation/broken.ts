import type { ServerClient } from "../../../agent/push/server-client.ts";
import { SendError } from "../../../agent/runtime/send-error.ts";
import type { Spool } from "../../../agent/spool/spool.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { DeviceKind } from "./devices.ts";

// Agents that break one promise each, as a control: the model must find every one of them within a few seeds.

type Post = ServerClient["post"];

/** A fault that is planted into a part of the agent. */
export interface Broken {
  /** The kinds of devices that show the fault; all by default. */
  readonly kinds?: readonly DeviceKind[];
  /** Changes the open spool. */
  readonly spool?: (spool: Spool) => void;
  /** Changes the requests to the server. */
  readonly post?: (post: Post) => Post;
}

interface Sent {
  readonly studies: readonly { readonly fp: string; readonly acquired_at: string }[];
}

const filed = ({ studies }: Sent) => ({ outcomes: studies.map(({ fp }) => ({ fp, outcome: "filed", reason: null })) });

type Call = (name: string, ...args: readonly unknown[]) => Promise<unknown>;

export const BROKEN = {
  "acknowledges before the commit": {
    spool(spool) {
      const append = spool.append.bind(spool);
      spool.append = (event, done) => {
        const id = append(event, () => undefined);
        done(null);
        return id;
      };
      const call = spool.call.bind(spool) as (...given: readonly unknown[]) => Promise<unknown>;
      const callEarly = (...given: readonly unknown[]) => {
        const outcome = call(...given);
        if (given[0] !== "addInstance") return outcome;
        outcome.catch(() => undefined);
        return Promise.resolve(null);
      };
      Reflect.set(spool, "call", callEarly);
    },
  },
  "acknowledges what a full disk refused": {
    spool(spool) {
      const append = spool.append.bind(spool);
      spool.append = (event, done) => append(event, () => done(null));
    },
  },
  "makes a new fp for each push": {
    post: (post) => async (path, body) => {
      const { studies } = body as Sent;
      const fresh = studies.map((study) => ({ ...study, fp: newFp("cds") }));
      const answer = (await post(path, { studies: fresh })) as { outcomes: { fp: string }[] };
      return { outcomes: answer.outcomes.map((outcome, index) => ({ ...outcome, fp: studies[index]!.fp })) };
    },
  },
  "drops what the server failed at": {
    post: (post) => async (path, body) => {
      try {
        return await post(path, body);
      } catch (error) {
        if (error instanceof SendError && error.status === 500) return filed(body as Sent);
        throw error;
      }
    },
  },
  "files the messages of a device out of order": {
    spool(spool) {
      const save = spool.saveMessage.bind(spool);
      let count = 0;
      spool.saveMessage = async (make) => {
        if (++count % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 5_000));
        return save(make);
      };
    },
  },
  "stores an image again that is sent again": {
    kinds: ["dicom"],
    spool(spool) {
      const call = spool.call.bind(spool) as Call;
      Reflect.set(spool, "call", (name: string, ...args: readonly unknown[]) =>
        name === "addInstance" ? call(name, { ...(args[0] as object), sha256: newFp("cds") }) : call(name, ...args),
      );
    },
  },
  "queues no image for the archive": {
    kinds: ["dicom"],
    spool(spool) {
      const call = spool.call.bind(spool) as Call;
      Reflect.set(spool, "call", (name: string, ...args: readonly unknown[]) =>
        name === "setDestinations" ? call(name, []) : call(name, ...args),
      );
    },
  },
  "expires old studies by the wall clock": {
    post: (post) => {
      const since = Date.now();
      return (path, body) =>
        Math.abs(Date.now() - since) > 12 * 3_600_000 ? Promise.resolve(filed(body as Sent)) : post(path, body);
    },
  },
} satisfies Readonly<Record<string, Broken>>;
