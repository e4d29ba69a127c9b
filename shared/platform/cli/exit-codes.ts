// Exit codes of every command. Scripts and service managers read them.

/** The command failed, `agent doctor` found a problem, or the command line is wrong. The reason is on stderr. */
export const EXIT_FAILURE = 1;
/** EX_CONFIG of sysexits.h: service managers do not restart on it. */
export const EXIT_CONFIG = 78;

/** Lines of the help page, one for each code. */
export const exitCodeLines: readonly string[] = [
  "0   done",
  `${EXIT_FAILURE}   failed, doctor found a problem, or the command line is wrong; the reason is on stderr`,
  `${EXIT_CONFIG}  agent.yaml is missing or has problems; a service manager does not restart on it`,
];
