import type { SetupAnswer } from "../../types/setup.ts";

/** Sends an answer to the shown step. @returns whether the agent took it */
export type Say = (answer: SetupAnswer) => Promise<boolean>;
