import { call } from "../../api.ts";
import { clinicPath, may } from "../../session.ts";

/** Reports that the user saw a revision of a study. The server ignores readers. */
export async function markSeen(fp: string, revision: number): Promise<void> {
  if (may("staff")) await call("POST", `${clinicPath()}/results/${fp}/seen`, { revision });
}
