import { Command, InvalidArgumentError } from "commander";
import { printable } from "../../../shared/runtime/printable.ts";
import { printLine } from "../../../shared/platform/cli/output.ts";
import { type Behaviour, behaviourOf, simulateReceiver } from "../../tools/simulator/receiver.ts";
import { type Address, parseAddress } from "../../transport/address.ts";

export const receiveCommand = new Command("receive")
  .description("play practice software that receives results over HL7, to try a destination; ends with Ctrl-C")
  .option("--listen <address>", "host:port, or a port of this machine", addressOf, { host: "127.0.0.1", port: 6661 })
  .option(
    "--answer <list>",
    "what to do with one message after the other, the last for all further ones: aa, ca, ae, ar, late:SECONDS, silent, close, " +
      "lose (stores it, without acknowledgement), foreign (acknowledges another message), split (byte by byte)",
    behavioursOf,
    ["aa"] as readonly Behaviour[],
  )
  .option("--show", "print each message")
  .action(receive);

interface ReceiveOptions {
  readonly listen: Address;
  readonly answer: readonly Behaviour[];
  readonly show?: boolean;
}

async function receive({ listen, answer, show = false }: ReceiveOptions): Promise<void> {
  let count = 0;
  const seen = new Set<string>();
  const behave = () => answer[Math.min(count++, answer.length - 1)] ?? "aa";
  const receiver = await simulateReceiver(listen, behave, ({ controlId, behaviour, isStored, message }) => {
    const again = seen.has(controlId) ? ", again" : "";
    const stored = isStored ? "stored" : "not stored";
    printLine(`${count}. ${printable(controlId)}, ${message.length} bytes${again}: ${behaviour}, ${stored}`);
    if (isStored) seen.add(controlId);
    if (show) for (const segment of message.toString().split(/[\r\n]+/)) printLine(`   ${printable(segment)}`);
  });
  printLine(`listening at ${listen.host}:${receiver.port}`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  await receiver.close();
}

function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (address === null) throw new InvalidArgumentError("expected host:port such as 127.0.0.1:6661");
  return address;
}

function behavioursOf(text: string): readonly Behaviour[] {
  return text.split(",").map((word) => {
    const behaviour = behaviourOf(word.trim().toLowerCase());
    if (behaviour === null) {
      throw new InvalidArgumentError(
        `${word} is unknown, expected aa, ca, ae, ar, late:SECONDS, silent, close, lose, foreign or split`,
      );
    }
    return behaviour;
  });
}
