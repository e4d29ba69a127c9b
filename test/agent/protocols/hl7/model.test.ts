import Database from "better-sqlite3";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createLink } from "../../../../agent/connection/create-link.ts";
import { duplicateKey } from "../../../../agent/protocols/hl7/message/duplicate-key.ts";
import type { Link, LinkAction } from "../../../../agent/protocols/link.ts";
import { read } from "../../../../agent/study/read.ts";
import { type Operations, operationsOn } from "../../../../agent/spool/queries/operations.ts";
import { migrate } from "../../../../agent/spool/thread/schema.ts";
import { study } from "../../../../agent/study/study.ts";
import { soakCount } from "../../../support/runner/soak.ts";
import { bloodCount, frameOf } from "../../../support/protocols/hl7.ts";
import { fixedContext } from "../../../support/protocols/wire.ts";
import { type Dice, diceOf } from "../../../support/runner/dice.ts";
import { context } from "../../records.ts";
import { hl7Device } from "../../../support/clinic/profiles.ts";

const genericHl7 = hl7Device("generic-hl7");

// Goal: bad lines give the same studies as clean ones. Method: messages of several connections of one device are randomly cut,
// doubled, resent and interleaved, each until its acknowledgement. Links, readers, spool operations and revisions are the
// agent's, without threads and sockets.

const CONNECTIONS = 3;

/** A message of a sample: several are its corrections. */
interface Sent {
  readonly connection: number;
  readonly sample: number;
  /** Few, for analyzers restart at 1. */
  readonly id: number;
  readonly wbc: number;
}

function wireOf({ sample, id, wbc }: Sent, hour = 10): Uint8Array {
  const minute = String(sample).padStart(2, "0");
  const measured = `202611210930${minute}`;
  return frameOf(
    bloodCount({ id: String(id), patient: String(4700 + (sample % 3)), measured, wbc, sent: `20261121${hour}0000` }),
  );
}

/** The device's messages end here, as a connection and its filing take them. */
class Agent {
  readonly #db = new Database(":memory:");
  readonly #operations: Operations;
  #messages = 0;
  #fps = 0;

  constructor() {
    migrate(this.#db);
    this.#operations = operationsOn(this.#db);
  }

  take(actions: readonly LinkAction[]): number {
    for (const action of actions) {
      if (action.do !== "deliver") continue;
      const { message: bytes, incomplete } = action;
      const ordinal = this.#messages++;
      const message = {
        id: `M${ordinal}`,
        device: "chem-1",
        profile: genericHl7.id,
        receivedAt: ordinal,
        bytes,
        incomplete,
      };
      const id = this.#operations.addMessage({ ...message, session: 1, ordinal }, duplicateKey(message, genericHl7));
      if (id === null || incomplete !== null) continue;
      const reading = read(bytes, genericHl7, context);
      const reports = reading.is === "reports" ? reading.reports : [];
      const studies = reports.map((report) => ({
        ...study(report, null, { device_id: "chem-1", message_id: id }),
        freshFp: `fp-${this.#fps++}`,
      }));
      this.#operations.settle({ message: id, state: "quarantined", reason: null, studies, completes: [], at: ordinal });
    }
    return actions.filter((action) => action.do === "reply").length;
  }

  /** Studies as the server gets them: key, latest revision and results. */
  studies(): string[] {
    const latest = new Map<string, string>();
    const { batch } = this.#operations.takeQueued(10_000, 100_000_000, 0);
    for (const { fp, revision, body } of batch.toSorted((one, other) => one.revision - other.revision)) {
      const { dedupe_key, results } = JSON.parse(body) as { dedupe_key: string; results: unknown };
      latest.set(fp, JSON.stringify([dedupe_key, revision, results]));
    }
    return [...latest.values()].toSorted();
  }

  close(): void {
    this.#db.close();
  }
}

/** One connection of the device: its unsent messages, and the agent's link. */
class Line {
  readonly #agent: Agent;
  readonly #dice: Dice;
  readonly #sent: Sent[] = [];
  readonly #queue: Sent[];
  #link: Link = createLink(genericHl7, fixedContext);

  constructor(agent: Agent, dice: Dice, queue: readonly Sent[]) {
    this.#agent = agent;
    this.#dice = dice;
    this.#queue = [...queue];
  }

  get isDone(): boolean {
    return this.#queue.length === 0;
  }

  /** Its next message, until it is acknowledged, or a fault. */
  step(): void {
    const message = this.#queue[0]!;
    const wire = wireOf(message);
    switch (this.#dice(8)) {
      case 0: // noise and heartbeats between frames
        this.#feed(Buffer.from("\x02noise\r\n\x00"));
        return;
      case 1: // cut, and started again
        this.#feed(wire.subarray(0, this.#dice(wire.length - 2)));
        return;
      case 2: // cut by silence
        this.#feed(wire.subarray(0, this.#dice(wire.length - 2)));
        this.#agent.take(this.#link.timeout());
        return;
      case 3: // cut by a close
        this.#feed(wire.subarray(0, this.#dice(wire.length - 2)));
        this.#agent.take(this.#link.close());
        this.#link = createLink(genericHl7, fixedContext);
        return;
      case 4: {
        // resent with another time
        const earlier = this.#sent[this.#dice(this.#sent.length || 1)];
        if (earlier !== undefined) this.#feed(wireOf(earlier, 10 + this.#dice(10)));
        return;
      }
      case 5: // an invalid message in its own frame
        this.#feed(frameOf(["junk", "PID|1||4700"]));
        return;
      default: {
        // FS without CR ends with the next byte or silence. The message is sent twice, because the reply was lost.
        const bare = this.#dice(3) === 0;
        const all = this.#dice(4) === 0 ? Buffer.concat([wire, wire]) : wire;
        this.#feed(bare ? all.subarray(0, -1) : all);
        if (bare) this.#agent.take(this.#link.timeout());
        this.#sent.push(message);
        this.#queue.shift();
      }
    }
  }

  #feed(wire: Uint8Array): void {
    for (let at = 0; at < wire.length; ) {
      const chunk = wire.subarray(at, at + 1 + this.#dice(120));
      at += chunk.length;
      this.#agent.take(this.#link.receive(chunk));
    }
  }
}

/** Each sample belongs to one connection, so that its corrections have an order. */
const messages = fc
  .array(
    fc.record({
      sample: fc.nat({ max: 11 }),
      id: fc.integer({ min: 1, max: 3 }),
      wbc: fc.integer({ min: 1, max: 99 }),
    }),
    { minLength: 1, maxLength: 25 },
  )
  .map((list): Sent[] => {
    // The same bytes under the same id are a resend, and do not revert a later correction.
    const seen = new Set<string>();
    return list
      .map((one) => ({ ...one, connection: one.sample % CONNECTIONS }))
      .filter(({ sample, id, wbc }) => !seen.has(`${sample} ${id} ${wbc}`) && seen.add(`${sample} ${id} ${wbc}`));
  });

test("interleaved connections, chunkings and faults give the same studies as clean delivery", () => {
  const property = fc.property(messages, fc.nat(), (list, seed) => {
    const clean = new Agent();
    for (const message of list) {
      expect(clean.take(createLink(genericHl7, fixedContext).receive(wireOf(message)))).toBe(1);
    }
    const dice = diceOf(seed);
    const faulty = new Agent();
    let lines = Array.from(
      { length: CONNECTIONS },
      (_, index) =>
        new Line(
          faulty,
          dice,
          list.filter(({ connection }) => connection === index),
        ),
    ).filter((line) => !line.isDone);
    while (lines.length > 0) {
      lines[dice(lines.length)]!.step();
      lines = lines.filter((line) => !line.isDone);
    }
    const [expected, got] = [clean.studies(), faulty.studies()];
    clean.close();
    faulty.close();
    expect(got).toEqual(expected);
    expect(expected).toHaveLength(new Set(list.map(({ sample }) => sample)).size);
  });
  fc.assert(property, { numRuns: Number(process.env["MODEL_RUNS"] ?? soakCount(150)) });
}, 600_000);
