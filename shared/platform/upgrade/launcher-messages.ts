import { type Static, Type } from "typebox";

// Messages of a running program and its launcher over IPC. Launcher and program may be of different versions, so a message
// only ever gains fields.

const TEXT_CHARS_MAX = 1_000;
const Text = Type.String({ maxLength: TEXT_CHARS_MAX });

/** Cuts a text. The other side drops a message with a longer one. */
export function cut(text: string): string {
  return text.slice(0, TEXT_CHARS_MAX);
}

export const ToLauncher = Type.Union([
  Type.Object({
    is: Type.Literal("health"),
    problems: Type.Array(Type.Object({ what: Text, reason: Text })),
    heartbeat: Type.Boolean(),
  }),
  /** Requests an upgrade to an unpacked version. A person may try a version again that was rolled back. */
  Type.Object({
    is: Type.Literal("upgrade"),
    version: Text,
    expects: Type.Object({ heartbeat: Type.Boolean(), known: Type.Array(Text) }),
    byPerson: Type.Optional(Type.Boolean()),
  }),
  /** Reports an upgrade that was not started, for the list of upgrades. */
  Type.Object({ is: Type.Literal("refused"), version: Text, reason: Text }),
]);
export type ToLauncher = Static<typeof ToLauncher>;
export type UpgradeAsked = Extract<ToLauncher, { readonly is: "upgrade" }>;

export const FromLauncher = Type.Union([
  Type.Object({ is: Type.Literal("stop") }),
  /** The response to an upgrade. Without a reason a stop follows, and the new version starts. */
  Type.Object({ is: Type.Literal("answer"), reason: Type.Union([Text, Type.Null()]) }),
]);
export type FromLauncher = Static<typeof FromLauncher>;

/** Variables of the environment that the launcher alone sets. */
export const VERSIONS_VARIABLE = "VETWIRE_VERSIONS";
export const ROLLED_BACK_VARIABLE = "VETWIRE_ROLLED_BACK";
