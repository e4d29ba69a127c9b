import { analyzersOf } from "../../../analyzers.ts";
import { markOf } from "../../../config/config-file.ts";
import { withProfile } from "../../../config/edit.ts";
import { ownProfile, ownReferences } from "../../../devices/index.ts";
import { OwnProfiles } from "../../../devices/own/own-profiles.ts";
import { OWN_PREFIX } from "../../../devices/own/reference.ts";
import { printProfile } from "../../../devices/table/document.ts";
import { readProfileText } from "../../../devices/table/load.ts";
import type { AnyProfileForm } from "../../../devices/table/file.ts";
import type { Host } from "../../../host.ts";
import { formOf } from "../../../maker/draft.ts";
import { type Adoption, finishAdoptions, intendAdoption } from "../../../tools/offline/adopt.ts";
import { lineDiff } from "../../types/line-diff.ts";
import type { LocalMakerSaved, MakerSave } from "../../types/maker.ts";
import { PageError } from "../page-error.ts";
import { runningAgent } from "../running-agent.ts";
import { formOfBase } from "./base.ts";

/** Messages of this time get the new profile's reading too: those that the draft was made of. */
const DAY_MS = 86_400_000;

/**
 * Stores a draft as the next revision of an own profile, and lets a device use it. A revision that the tab has not seen is not passed
 * over: the answer is the difference.
 */
export async function saved(
  host: Host,
  { base, patches, name, seen, device, mark }: MakerSave,
): Promise<LocalMakerSaved> {
  const { config } = runningAgent(host);
  const form = formOfBase(base);
  let reference = base;
  if (name !== null) {
    if (form === null) throw new PageError(422, `${base} is code: use it as it is`);
    const own: AnyProfileForm = { ...formOf({ base: form, patches }), profile: `${OWN_PREFIX}${name}`, revision: 1 };
    const read = readProfileText(printProfile(own), own.profile);
    if ("problems" in read) {
      return { outcome: "refused", reference: null, problems: read.problems.map(({ message }) => message) };
    }
    const [latest] = ownReferences().filter((each) => each.startsWith(`${own.profile}@`));
    if ((latest ?? null) !== seen)
      return { outcome: "changed", reference: latest ?? "", diff: differenceTo(latest, own) };
    reference = new OwnProfiles(config.data).save(read.form);
  }
  if (device === null) return { outcome: "saved", reference, device, mark: markOf(host.text()) };
  const from = config.devices.find(({ id }) => id === device)?.profile ?? "";
  const adoption: Adoption = { device, from, to: reference, since: Date.now() - DAY_MS, isUnseen: true };
  const next = withProfile(host.text() ?? "", device, reference);
  const applied = await host.apply(next, mark, () => intendAdoption(config.data, adoption));
  if (applied.outcome !== "applied") {
    const problems = applied.outcome === "refused" ? applied.problems.map(({ message }) => message) : [applied.reason];
    return { outcome: "refused", reference, problems };
  }
  const now = runningAgent(host).config;
  await finishAdoptions(now, analyzersOf(now));
  return { outcome: "saved", reference, device, mark: markOf(host.text()) };
}

function differenceTo(latest: string | undefined, draft: AnyProfileForm): string[] {
  const stored = latest === undefined ? null : ownProfile(latest);
  const before = stored !== null && "form" in stored ? printProfile({ ...stored.form, revision: 1 }) : "";
  return lineDiff(before, printProfile(draft));
}
