import type { CommandHelp } from "../../shared/platform/cli/program.ts";

// Summaries and examples of the agent's commands. Every command and subcommand has an example, which parses.

const STUDY = "cds_01K9DEM0000000000000S00001";
const MESSAGE = "01K9DEM0000000000000M00001";
const PATIENT = "patient_01K9DEM0000000000000P00001";

export const agentHelp: Readonly<Record<string, CommandHelp>> = {
  run: { summary: "serve the devices until Ctrl-C", examples: ["run", "run --config agent.yaml", "run --set-up"] },
  pair: {
    summary: "give this PC access by a code",
    examples: [
      "pair --server https://vetwire.example.com --code 7KQM-X2HD-9FVT",
      'pair --server https://vetwire.example.com --code 7KQM-X2HD-9FVT --name "Laboratory" --key-file ./agent.key',
    ],
  },
  check: {
    summary: "find every problem of the configuration",
    examples: ["check", "check --config agent.yaml", "check --json"],
  },
  doctor: {
    summary: "find what is wrong here, and the remedy",
    examples: ["doctor", "doctor --offline", "doctor --json", "doctor --bundle support.zip"],
  },
  status: { summary: "state of devices, server and queue", examples: ["status", "status --json"] },
  messages: {
    summary: "list messages with their state",
    examples: [
      "messages --since 24h",
      "messages --state unmatched --state quarantined",
      "messages --device chem-1 --follow",
      "messages --json",
    ],
  },
  explain: {
    summary: "time line of a study or a message",
    examples: [`explain ${STUDY}`, `explain ${MESSAGE}`],
  },
  codes: { summary: "codes that the catalogue lacks", examples: ["codes", "codes --json"] },
  reprocess: {
    summary: "process messages again after a correction",
    examples: [
      "reprocess --state unmatched --dry-run",
      "reprocess --state filed --device chem-1 --since 7d",
      "reprocess --state unmatched --dry-run --json",
    ],
  },
  capture: {
    summary: "write a message as a fixture",
    examples: [`capture ${MESSAGE}`, `capture ${MESSAGE} --raw`],
  },
  documents: {
    summary: "list or search the PDF files of studies",
    examples: [
      "documents --search lipemic",
      `documents --study ${STUDY} --json`,
      `documents ${MESSAGE} --out report.pdf`,
    ],
  },
  images: {
    summary: "list, draw or send images again",
    examples: [
      "images list --json",
      "images list --study 1.2.840.113619.2.1 --export ./images",
      `images preview ${MESSAGE} --out image.png`,
      "images retry pacs",
    ],
  },
  ports: { summary: "list the serial ports", examples: ["ports", "ports --json"] },
  sniff: {
    summary: "listen to a device and suggest its settings",
    examples: [
      "sniff --connection serial:/dev/ttyUSB0",
      "sniff --connection listen://0.0.0.0:4001 --duration 60",
      "sniff --connection folder:/srv/export",
      "sniff --device chem-1 --bytes",
    ],
  },
  order: {
    summary: "order tests, and print the accession",
    examples: [`order --device chem-1 --patient ${PATIENT} --tests ALT,CREA`],
  },
  lock: { summary: "lock a point-of-care device", examples: ["lock --device poc-1"] },
  unlock: { summary: "unlock a point-of-care device", examples: ["unlock --device poc-1"] },
  replay: {
    summary: "print the study of a fixture",
    examples: [
      "replay dog.astm --profile abaxis-vetscan-vs2 --species dog",
      "replay dog.hl7 --profile mindray-bc --species dog --date-of-birth 2020-05-01",
    ],
  },
  profile: {
    summary: "the clinic's own profiles of devices",
    examples: [
      "profile list",
      "profile show own/acme-x1@3",
      "profile check acme-x1.yaml",
      "profile adopt own/acme-x1@4 --device hema-1",
      "profile adopt own/acme-x1@4 --device hema-1 --yes",
      `profile export own/acme-x1@3 --message ${MESSAGE} --model "Acme X1" --hide Zeytin`,
      "profile import acme-x1@3.vetwire-profile",
      "profile import acme-x1@3.vetwire-profile --yes",
      "profile ship acme-x1@3.vetwire-profile",
    ],
  },
  livd: { summary: "tests of all devices with LOINC codes", examples: ["livd"] },
  simulate: {
    summary: "play a device",
    examples: [
      "simulate dog.astm --to tcp://127.0.0.1:4001",
      "simulate dog.astm --to serial:/dev/ttyUSB0 --baud 9600",
      "simulate us,xa --to dicom://DX1@127.0.0.1:11112/VETWIRE",
    ],
  },
  receive: {
    summary: "play practice software that receives results",
    examples: ["receive --listen 127.0.0.1:6661", "receive --answer ae,ae,aa --show"],
  },
  backup: {
    summary: "save spool and configuration in one file",
    examples: ["backup /mnt/usb/agent.backup", "backup /mnt/usb/agent.backup --images"],
  },
  restore: {
    summary: "check or restore a backup",
    examples: ["restore /mnt/usb/agent.backup --check", "restore /mnt/usb/agent.backup"],
  },
  resend: {
    summary: "send studies again to a restored server",
    examples: ["resend --since 24h", "resend --since 2026-11-21T09:30:00Z"],
  },
};
