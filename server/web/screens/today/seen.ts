import { call } from "../../api.ts";
import { clinicPath, may } from "../../session.ts";

/** Reports to the server that the user saw a revision of a study. A reader's look does not count. */
export async function markSeen(fp: string, revision: number): Promise<void> {
  if (may("staff")) await call("POST", `${clinicPath()}/results/${fp}/seen`, { revision });
}
