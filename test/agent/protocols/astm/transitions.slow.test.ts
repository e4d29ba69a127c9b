import { expect, test } from "vitest";
import { AstmLink } from "../../../../agent/protocols/astm/link.ts";
import type { LinkAction } from "../../../../agent/protocols/link.ts";
import { type Dice, diceOf } from "../../../support/dice.ts";
import { bytes, frame, show } from "./wire.ts";

// Goal: the link follows LIS01-A2's state diagram in both roles. Method: diagram() lists every transition; links receive random
// inputs. Exactly the listed transitions occur. The agent honors every interrupt, so no transition leads from Interrupt
// Requested to the next frame.

const CONTENTION = { host: "20 s", instrument: "1 s" };

/**
 * State, input, output, next state, and the names of the standard's diagram. "+": a message waits to be sent. The last column
 * holds the states that take no time (Awake, Frame Received, Frame Ready, ...).
 */
const diagram = (role: "host" | "instrument") => `
neutral       | other          |                         | neutral       | §6.2.5 Idle: all but ENQ is ignored
neutral       | other          | 1 s                     | neutral       | the same, noise that is reported once it is over
neutral       | time-out       |                         | neutral       | the noise is over
neutral       | ENQ            | <ACK> 30 s              | receiving     | Idle - Awake - Waiting
neutral       | ENQ, disk full | <NAK>                   | neutral       | Idle - Awake, busy - Idle
neutral       | message        | <ENQ> 15 s              | establishing+ | Idle - Data To Send - Waiting

receiving     | other          |                         | receiving     | §6.5.1.1 Waiting: all but STX and EOT is ignored
receiving     | good frame     | <ACK> 30 s              | receiving     | Frame Received, good - Waiting
receiving     | same again     | <ACK> 30 s              | receiving     | Frame Received, repeated - Waiting
receiving     | bad frame      | <NAK> 30 s              | receiving     | Frame Received, bad - Waiting
receiving     | EOT            | no timer                | neutral       | Waiting - Idle
receiving     | time-out       | no timer                | neutral       | Waiting, time-out - Idle
receiving     | message        |                         | receiving+    | Waiting, data to send
receiving+    | other          |                         | receiving+    | as without data to send
receiving+    | good frame     | <EOT> 30 s              | receiving+    | Good Frame, data to send: interrupt
receiving+    | good frame     | <ACK> 30 s              | receiving+    | the same, but we were interrupted ourselves
receiving+    | same again     | <ACK> 30 s              | receiving+    | as without data to send
receiving+    | bad frame      | <NAK> 30 s              | receiving+    | as without data to send
receiving+    | EOT            | <ENQ> 15 s              | establishing+ | Waiting - Idle - Data To Send
receiving+    | EOT            | 10 s                    | busy+         | Waiting - Idle, busy timer runs
receiving+    | EOT            | unsent no timer         | neutral       | Waiting - Idle, ENQ said six times
receiving+    | time-out       | <ENQ> 15 s              | establishing+ | Waiting, time-out - Idle - Data To Send
receiving+    | time-out       | 10 s                    | busy+         | Waiting, time-out - Idle, busy timer runs
receiving+    | time-out       | unsent no timer         | neutral       | Waiting, time-out - Idle, ENQ said six times

establishing+ | ACK            | next frame 15 s         | transferring+ | Waiting - Next Frame Set Up - Frame Ready - Waiting
establishing+ | NAK            | 10 s                    | busy+         | Waiting - Busy
establishing+ | ENQ            | ${CONTENTION[role].padEnd(23)} | contention+   | Waiting - Contention
establishing+ | time-out       | <EOT> unsent no timer   | neutral       | §6.5.2.1 Waiting, time-out - Idle
establishing+ | other          |                         | establishing+ | no reply to ENQ

contention+   | time-out       | <ENQ> 15 s              | establishing+ | Contention timer ran out - Data To Send
contention+   | time-out       | unsent                  | neutral       | the same, ENQ said six times
contention+   | ENQ            | <ACK> 30 s              | receiving+    | Idle - Awake - Waiting
contention+   | ENQ, disk full | <NAK>                   | contention+   | Idle - Awake, busy - Idle
contention+   | other          |                         | contention+   | §6.2.5 Idle: all but ENQ is ignored

busy+         | time-out       | <ENQ> 15 s              | establishing+ | Busy timer ran out - Data To Send
busy+         | time-out       | unsent                  | neutral       | the same, ENQ said six times
busy+         | ENQ            | <ACK> 30 s              | receiving+    | Idle - Awake - Waiting
busy+         | ENQ, disk full | <NAK>                   | busy+         | Idle - Awake, busy - Idle
busy+         | other          |                         | busy+         | §6.2.5 Idle: all but ENQ is ignored

transferring+ | ACK            | next frame 15 s         | transferring+ | Waiting - Next Frame Set Up - Frame Ready - Waiting
transferring+ | ACK            | <EOT> sent no timer     | neutral       | Waiting - Next Frame Set Up, transfer done - Idle
transferring+ | NAK            | same frame 15 s         | transferring+ | Waiting - Old Frame Set Up, retry - Frame Ready - Waiting
transferring+ | NAK            | <EOT> unsent no timer   | neutral       | Waiting - Old Frame Set Up, six tries - Idle
transferring+ | other          | 0.3 s                   | garbled+      | Waiting, any other character, until it is quiet
transferring+ | EOT            | <EOT> 15 s              | interrupted+  | Waiting - Interrupt Requested, accepted - Idle
transferring+ | EOT            | <EOT> sent 15 s         | interrupted   | the same with the last frame
transferring+ | time-out       | <EOT> unsent no timer   | neutral       | §6.5.2.3 Waiting, time-out - Idle

garbled+      | time-out       | same frame 15 s         | transferring+ | Waiting - Old Frame Set Up, retry - Frame Ready - Waiting
garbled+      | time-out       | <EOT> unsent no timer   | neutral       | Waiting - Old Frame Set Up, six tries - Idle
garbled+      | other          |                         | garbled+      | no reply yet
garbled+      | ACK            | next frame 15 s         | transferring+ | as if nothing had been before it, also below
garbled+      | ACK            | <EOT> sent no timer     | neutral       |
garbled+      | NAK            | same frame 15 s         | transferring+ |
garbled+      | NAK            | <EOT> unsent no timer   | neutral       |
garbled+      | EOT            | <EOT> 15 s              | interrupted+  |
garbled+      | EOT            | <EOT> sent 15 s         | interrupted   |

interrupted+  | time-out       | <ENQ> 15 s              | establishing+ | §6.3.5 after 15 s - Data To Send
interrupted+  | time-out       | unsent                  | neutral       | the same, ENQ said six times
interrupted+  | ENQ            | <ACK> 30 s              | receiving+    | Idle - Awake - Waiting
interrupted+  | ENQ, disk full | <NAK>                   | interrupted+  | Idle - Awake, busy - Idle
interrupted+  | other          |                         | interrupted+  | §6.2.5 Idle: all but ENQ is ignored
interrupted   | time-out       |                         | neutral       | §6.3.5 after 15 s, nothing to send
interrupted   | ENQ            | <ACK> 30 s              | receiving     | Idle - Awake - Waiting
interrupted   | ENQ, disk full | <NAK>                   | interrupted   | Idle - Awake, busy - Idle
interrupted   | other          |                         | interrupted   | §6.2.5 Idle: all but ENQ is ignored
interrupted   | message        |                         | interrupted+  | Data To Send, but the line is the other side's
`;

interface Transition {
  readonly from: string;
  readonly input: string;
  readonly says: string;
  readonly to: string;
}

function transitionsOf(role: "host" | "instrument"): Transition[] {
  const rows = diagram(role).split("\n");
  const cells = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  return cells.flatMap(([from, input, says, to, ...name]) =>
    from && input && says !== undefined && to && name.length === 1 ? [{ from, input, says, to }] : [],
  );
}

const CHARACTERS = ["ENQ", "ACK", "NAK", "EOT", "x"];
const INPUTS = [...CHARACTERS, "ENQ, disk full", "good frame", "same again", "bad frame", "message", "time-out"];
const MESSAGE = "H|\\^&<CR>O|1<CR>O|2<CR>O|3<CR>O|4<CR>L|1|N<CR>";

/** Plays random inputs to a link. @returns its transitions */
function walk(role: "host" | "instrument", named: readonly Transition[], dice: Dice): Transition[] {
  const link = new AstmLink({ role, interrupts: true });
  let waits = false;
  let timerRuns = false;
  /** Frames of the device. */
  let accepted = 0;
  let lastAccepted = "";
  /** Last frame of the agent. */
  let lastSent = "";

  const place = () => link.state + (waits ? "+" : "");
  const next = () => frame((accepted + 1) % 8, `C|${accepted}<CR>`);

  function happens(input: string): LinkAction[] {
    switch (input) {
      case "message":
        waits = true;
        return link.send(bytes(MESSAGE));
      case "time-out":
        timerRuns = false;
        return link.timeout();
      case "ENQ, disk full":
        return link.refuse(bytes("<ENQ>"));
      case "good frame":
        lastAccepted = next();
        accepted += 1;
        return link.receive(bytes(lastAccepted));
      case "same again":
        return link.receive(bytes(lastAccepted));
      case "bad frame":
        return link.receive(bytes(next().replace("C|", "D|")));
      case "ENQ":
        if (link.state !== "receiving") [accepted, lastAccepted] = [0, ""];
        return link.receive(bytes("<ENQ>"));
      default:
        return link.receive(bytes(/^[A-Z]+$/.test(input) ? `<${input}>` : input));
    }
  }

  function said(action: LinkAction): string[] {
    switch (action.do) {
      case "reply": {
        const text = show(action.bytes);
        const isSame = text === lastSent;
        if (text === "<ENQ>") lastSent = "";
        if (!text.startsWith("<STX>")) return [text];
        lastSent = text;
        return [isSame ? "same frame" : "next frame"];
      }
      case "timer":
        timerRuns = action.ms !== null;
        return [action.ms === null ? "no timer" : `${action.ms / 1000} s`];
      case "sent":
      case "unsent":
        waits = false;
        return [action.do];
      case "identify":
      case "report":
      case "close":
        return [action.do];
      case "warn":
      case "deliver":
        return [];
    }
  }

  /** Repeats one input per state in most cases, so that the sixth NAK occurs. */
  const habits = new Map<string, string>();
  function habit(at: string): string {
    const usual = named.filter(({ from }) => from === at).map(({ input }) => (input === "other" ? "x" : input));
    if (!habits.has(at)) habits.set(at, usual[dice(usual.length)]!);
    return habits.get(at)!;
  }

  const taken: Transition[] = [];
  for (let step = 0; step < 100; step++) {
    const from = place();
    const happening = dice(10) === 0 ? INPUTS[dice(INPUTS.length)]! : habit(from);
    // A character that the diagram does not list for this state counts as "other".
    const isNamed = named.some((transition) => transition.from === from && transition.input === happening);
    const input = isNamed ? happening : CHARACTERS.includes(happening) ? "other" : null;
    const cannotBe = (input === "time-out" && !timerRuns) || (input === "same again" && lastAccepted === "");
    if (input === null || cannotBe) continue;
    const says = happens(happening).flatMap(said).join(" ");
    taken.push({ from, input, says, to: place() });
  }
  return taken;
}

test.each(["host", "instrument"] as const)("as %s, every transition of the diagram occurs, and no other", (role) => {
  const expected = transitionsOf(role);
  const taken = new Set<string>();
  for (let seed = 0; seed < 4_000; seed++) {
    for (const transition of walk(role, expected, diceOf(seed))) taken.add(rowOf(transition));
  }
  expect([...taken].toSorted()).toEqual(expected.map(rowOf).toSorted());
});

function rowOf({ from, input, says, to }: Transition): string {
  return `${from} | ${input} | ${says} | ${to}`;
}
