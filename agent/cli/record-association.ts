import { Command, InvalidArgumentError } from "commander";
import { printLine } from "../../shared/cli/output.ts";
import { recordAssociation } from "../tools/simulator/record-association.ts";
import { type Address, parseAddress } from "../transport/address.ts";

export const recordAssociationCommand = new Command("record-association")
  .description(
    "relay one association between an imaging device and its receiver, and print it as a fixture, one PDU per line",
  )
  .requiredOption("--listen <address>", "host:port that the device dials", parseHostPort)
  .requiredOption("--to <address>", "host:port of the receiver", parseHostPort)
  .action(async ({ listen, to }: { listen: Address; to: Address }) => {
    const recording = await recordAssociation(listen, to);
    for (const line of await recording.lines) printLine(line);
  });

function parseHostPort(text: string): Address {
  const address = parseAddress(text);
  if (address === null) throw new InvalidArgumentError("expected host:port");
  return address;
}
