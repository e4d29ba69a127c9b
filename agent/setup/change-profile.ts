import type { Config } from "../config/values/schema.ts";
import type { FilingDevice } from "../study/assess.ts";
import { thoseThatReplaceThemselves } from "../tools/offline/adopt.ts";
import { reassess, store } from "../tools/offline/reprocess.ts";

/**
 * Reads the messages of a new device again with its changed profile. A message stays as it was filed if the other profile would
 * make a second study of it, or if a newer result of its study arrives meanwhile.
 */
export async function reprocessFirst(
  config: Config,
  analyzers: ReadonlyMap<string, FilingDevice>,
  device: string,
  since: number,
): Promise<void> {
  const states = ["filed", "unmatched", "quarantined", "not-for-patients"] as const;
  const wanted = { states, devices: [device], since };
  const known = { analyzers, imaging: new Map<string, never>() };
  const done = await reassess(config.data, wanted, known, config.matchPatientsByName ?? false, () => undefined);
  store(config.data, thoseThatReplaceThemselves(config.data, done));
}
