import { Command } from "commander";
import { plural, printError, printJson, printTable, type Table } from "../../../shared/platform/cli/output.ts";
import { listPorts, type SerialPortInfo } from "../../transport/serial-ports.ts";

export const portsCommand = new Command("ports")
  .description("list the serial ports; the first path of a port stays the same when it is plugged in again")
  .option("--json", "print a JSON array")
  .action(async ({ json }: { json?: boolean }) => {
    const ports = await listPorts();
    if (json) return printJson(ports);
    await printTable(portTable, ports);
    printError(plural(ports.length, "serial port"));
  });

const portTable: Table<SerialPortInfo> = {
  head: ["PORT", "NOW", "MAKER", "USB", "SERIAL NUMBER"],
  cells: ({ path, by_id, vendor, vendor_id, product_id, serial_number }) => {
    const usb = vendor_id === null ? "" : `${vendor_id}:${product_id ?? ""}`;
    return [by_id ?? path, by_id === null ? "" : path, vendor ?? "", usb, serial_number ?? ""];
  },
};
