import type { ServiceDescription } from "../../../../shared/platform/service/description.ts";

/** An agent of a Debian package. */
export const LINUX_AGENT: ServiceDescription = {
  program: "agent",
  name: "vetwire-agent",
  node: "/usr/lib/vetwire-agent/runtime/node",
  main: "/usr/lib/vetwire-agent/app/shared/main.js",
  config: "/etc/vetwire/agent.yaml",
  state: "/var/lib/vetwire/agent",
  writable: [],
  options: [],
};

/** A server of a checkout in a home folder, with paths that need quotes in every text. */
export const HOME_SERVER: ServiceDescription = {
  program: "server",
  name: "vetwire-server-lab",
  node: "/home/ayşe/node v24/bin/node",
  main: "/home/ayşe/vet & wire/dist/shared/main.js",
  config: null,
  state: '/srv/100% "lab"/$server',
  writable: ["/mnt/backups <nas>"],
  options: ["--port", "9000", "--smtp-user", "a\\b c"],
};

/** An agent of the .msi package. */
export const WINDOWS_AGENT: ServiceDescription = {
  ...LINUX_AGENT,
  node: "C:\\Program Files\\Vetwire Agent\\runtime\\node.exe",
  main: "C:\\Program Files\\Vetwire Agent\\app\\shared\\main.js",
  config: "C:\\ProgramData\\Vetwire\\agent.yaml",
  state: "C:\\ProgramData\\Vetwire\\agent",
  options: [],
};
