import type { RunningAgent } from "../../agent.ts";
import type { Host } from "../../host.ts";
import { PageError } from "./page-error.ts";

/** @returns the running agent @throws PageError before the set-up, and while another configuration starts */
export function runningAgent({ agent }: Host): RunningAgent {
  if (agent === null) throw new PageError(503, "the agent does not run: set it up, or try again in a moment");
  return agent;
}
