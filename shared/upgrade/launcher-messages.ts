import { type Static, Type } from "typebox";

// Messages of a running program and its launcher over IPC. Launcher and program may be of different versions, so a message
// only ever gains fields.

const Text = Type.String({ maxLength: 1_000 });

export const ToLauncher = Type.Union([
  Type.Object({
    is: Type.Literal("health"),
    problems: Type.Array(Type.Object({ what: Text, reason: Text })),
    heartbeat: Type.Boolean(),
  }),
  /** Asks for an upgrade to an unpacked version. */
  Type.Object({
    is: Type.Literal("upgrade"),
    version: Text,
    expects: Type.Object({ heartbeat: Type.Boolean(), known: Type.Array(Text) }),
  }),
  /** Tells of an upgrade that was not started, for the list of upgrades. */
  Type.Object({ is: Type.Literal("refused"), version: Text, reason: Text }),
]);
export type ToLauncher = Static<typeof ToLauncher>;

export const FromLauncher = Type.Union([
  Type.Object({ is: Type.Literal("stop") }),
  /** The answer to an upgrade. Without a reason the program stops, and the new version starts. */
  Type.Object({ is: Type.Literal("answer"), reason: Type.Union([Text, Type.Null()]) }),
]);
export type FromLauncher = Static<typeof FromLauncher>;

/** Variables of the environment that the launcher alone sets. */
export const VERSIONS_VARIABLE = "VETWIRE_VERSIONS";
export const UNDO_VARIABLE = "VETWIRE_UNDO";
