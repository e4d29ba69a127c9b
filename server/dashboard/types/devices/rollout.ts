// The update of the clinic PCs, as GET /clinic/v1/clinics/:clinic/rollout shows it.

/** The newest release, and the PCs that are older. */
export interface UpdatePlan {
  version: string;
  /** PCs that can take it, in their order. */
  pcs: { agent: string; name: string; from: string | null }[];
  /** Older PCs that cannot. */
  left: { name: string; from: string | null; why: LeftWhy }[];
}

/**
 * `by hand`: the agent does not upgrade itself, since it is too old or not from a package. `no package`: the release lacks its
 * platform. `rolled back`: it tried this version already, and takes a later one alone.
 */
export type LeftWhy = "by hand" | "no package" | "rolled back";

/**
 * `waiting`: its turn comes. `asked`: the agent received the order and has not responded. `preparing`: it fetches and checks the
 * release, and waits for its devices. `trying`: the new version runs for its first minute. `refused`: it could not start the new
 * version, and tries again after a pause. `silent`: it is its turn, and the PC sends nothing. `kept`: it keeps its version, since
 * the roll-out ended before its turn.
 */
export type RolloutPcState =
  | ("waiting" | "asked" | "preparing" | "trying" | "refused" | "silent")
  | ("done" | "rolled back" | "skipped" | "kept");

export interface RolloutPcShown {
  agent: string;
  name: string;
  from: string | null;
  state: RolloutPcState;
  /** The agent's own sentence about a rollback or a refusal. */
  reason: string | null;
}

export interface RolloutShown {
  version: string;
  /** The user who started it. */
  by: string;
  started_at: string;
  is: "running" | "done" | "stopped" | "rolled back";
  /** The PCs in the order of their turns. */
  pcs: RolloutPcShown[];
}

/** The response to `GET rollout`. */
export interface RolloutBody {
  /** Null without a release. */
  plan: UpdatePlan | null;
  /** The last one, until a user puts it away. */
  rollout: RolloutShown | null;
}
