import type { SetupLine } from "../../shared/local/setup.ts";
import type { HeardBytes } from "./listening.ts";

/** Returns what to check after listening without a candidate, the likeliest first. */
export function adviceFor(line: SetupLine, heard: readonly HeardBytes[], problem: string | null): string[] {
  if (problem !== null) return [problem];
  if (heard.length > 0) return UNREAD[line.kind];
  return SILENT[line.kind];
}

const SILENT: Readonly<Record<SetupLine["kind"], string[]>> = {
  serial: [
    "Look whether the cable sits firmly at both ends, and whether it is the right port.",
    "Many devices need a null-modem (crossed) cable. Try one, or a null-modem adapter.",
    "Look in the device's settings whether sending to a computer (LIS, host) is on, and over the serial port.",
    "Send a result at the device again while this page listens.",
  ],
  listen: [
    "Compare address and port in the device's settings with those shown here.",
    "Look whether the device and this PC are in the same network, and whether the cable's light is on.",
    "A firewall of this PC may block the port. Allow it for Vetwire.",
    "Send a result at the device again while this page listens.",
  ],
  dial: [
    "Look whether the device is on, and compare its address and port with those typed here.",
    "Look in the device's settings whether it waits for a computer (LIS, host) to connect.",
    "Send a result at the device again while this page listens.",
  ],
  imaging: [
    "Compare address, port and AE title in the device's settings with those shown here.",
    "A firewall of this PC may block the port. Allow it for Vetwire.",
    "Use the device's connection test (C-ECHO), or send an image again, while this page listens.",
  ],
};

const UNKNOWN =
  "The bytes fit no protocol that Vetwire knows. Choose the profile by hand, or ask for help with the bytes above.";

const UNREAD: Readonly<Record<SetupLine["kind"], string[]>> = {
  serial: [
    "Bytes came, but none of the tried speeds made sense of them. Read the speed in the device's settings (9600 is usual).",
    "Send a result again after each change of the speed, because one result is needed to test it.",
    UNKNOWN,
  ],
  listen: [UNKNOWN],
  dial: [UNKNOWN],
  imaging: [
    "Bytes came that are not DICOM. Look whether encryption (TLS) is on at the device, and switch it off.",
    UNKNOWN,
  ],
};
