import { Command } from "commander";
import { plural, printError, printJson, printLine } from "../../shared/cli/output.ts";
import { listPorts } from "../transport/serial-ports.ts";

export const portsCommand = new Command("ports")
  .description("list the serial ports; the first path of a port stays the same when it is plugged in again")
  .option("--json", "print a JSON array")
  .action(async ({ json }: { json?: boolean }) => {
    const ports = await listPorts();
    if (json) return printJson(ports);
    for (const { path, by_id, vendor, vendor_id, product_id, serial_number } of ports) {
      const usb = vendor_id === null ? null : `${vendor_id}:${product_id ?? ""}`;
      const parts = [by_id ?? path, by_id === null ? null : path, vendor, usb, serial_number];
      printLine(parts.filter((part) => part !== null).join("  "));
    }
    printError(plural(ports.length, "serial port"));
  });
