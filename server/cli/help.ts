import type { CommandHelp } from "../../shared/platform/cli/program.ts";

// Summaries and examples of the server's commands. Every command and subcommand has an example, which parses.

const CLINIC = "clinic_01K9DEM0000000000000C00001";
const STUDY = "cds_01K9DEM0000000000000S00001";
const AGENT = "agent_01K9DEM0000000000000A00001";
const OWNER = "customer_01K9DEM0000000000000V00001";
const KEY = "key_01K9DEM0000000000000K00001";

export const serverHelp: Readonly<Record<string, CommandHelp>> = {
  run: {
    summary: "serve the API and the dashboard until Ctrl-C",
    examples: [
      "run",
      "run --host 0.0.0.0 --port 443 --tls-cert chain.pem --tls-key key.pem",
      "run --trust-proxy 127.0.0.1 --rate-limit device=120/3000",
      "run --metrics 127.0.0.1:9090 --drain-seconds 4",
      "run --backup-dir /media/backup --backup-keep 14 --log-file vetwire.log",
    ],
  },
  import: {
    summary: "import NDJSON, or animals from CSV or Excel",
    examples: [
      "import clinics.ndjson",
      `import patients.csv --clinic ${CLINIC} --dry-run`,
      `import soap.ndjson --owner ${CLINIC}`,
    ],
  },
  export: {
    summary: "write all entities as NDJSON",
    examples: [
      "export",
      "export all.ndjson",
      `export clinic.ndjson --clinic ${CLINIC}`,
      `export owner.ndjson --clinic ${CLINIC} --owner ${OWNER}`,
    ],
  },
  owners: {
    summary: "erase the data of an owner",
    examples: [`owners erase ${OWNER} --clinic ${CLINIC}`, `owners erase ${OWNER} --clinic ${CLINIC} --yes`],
  },
  keys: {
    summary: "API keys of the clinics",
    examples: [
      `keys create --clinic ${CLINIC} --name agent --permissions clinic.lab.ingest,clinic.patient.view --out agent.key`,
      `keys list --clinic ${CLINIC}`,
      `keys roll ${KEY} --grace 24h`,
      `keys revoke ${KEY}`,
    ],
  },
  agents: {
    summary: "agents of clinic PCs",
    examples: ["agents list", `agents list --clinic ${CLINIC} --json`, `agents revoke ${AGENT}`],
  },
  releases: {
    summary: "versions of the agent for the clinic PCs",
    examples: [
      "releases add vetwire-agent-0.2.0-linux-x64.tar.gz vetwire-agent-0.2.0-win-x64.tar.gz",
      "releases fetch --from https://downloads.example/latest.json",
      "releases list --json",
      "releases remove 0.2.0",
    ],
  },
  clinics: {
    summary: "clinics of the server",
    examples: [
      'clinics create --name "Example clinic"',
      "clinics list --json",
      `clinics suspend ${CLINIC}`,
      `clinics resume ${CLINIC}`,
    ],
  },
  operators: {
    summary: "operators of the server",
    examples: ["operators add --name ops", "operators list", "operators remove ops"],
  },
  users: {
    summary: "users of the dashboard",
    examples: [
      `users create --clinic ${CLINIC} --role admin --name ayse`,
      "users list",
      `users list --clinic ${CLINIC} --json`,
      "users reset ayse",
    ],
  },
  unmatched: {
    summary: "studies without a certain patient",
    examples: ["unmatched list", "unmatched list --sample A-17 --json"],
  },
  explain: { summary: "time line of a study, and its flags", examples: [`explain ${STUDY}`] },
  ranges: {
    summary: "a clinic's own reference intervals",
    examples: [
      `ranges import ranges.ndjson --clinic ${CLINIC}`,
      `ranges import ranges.csv --clinic ${CLINIC} --dry-run`,
      `ranges list --clinic ${CLINIC}`,
      `ranges export ranges.ndjson --clinic ${CLINIC}`,
    ],
  },
  backup: { summary: "save the database in one file", examples: ["backup /mnt/usb/server.backup"] },
  restore: {
    summary: "check or restore a backup",
    examples: ["restore /mnt/usb/server.backup --check", "restore /mnt/usb/server.backup"],
  },
  audit: {
    summary: "who read or changed what",
    examples: ["audit --since 24h", `audit --key ${KEY} --format json`, `audit --clinic ${CLINIC} --format csv`],
  },
};
