import { EXTERNAL_ID_CHARS_MAX, type RegistryChange } from "../../../../shared/api/agent/registry.ts";
import type { Segment } from "../message/segment.ts";
import { type Place, refuse, shownValue } from "./fault.ts";
import { agrees, type Cx, isOwnId, isSame, numbersIn, ownId } from "./identifiers.ts";
import type { PracticeSettings } from "./settings.ts";

// Merges (A40) and changed ids (A47): pairs of PID and MRG. The id in PID-3 stays, the one in MRG-1 goes (HL7 v2 §3.3.40).

export function readMerges(
  segments: readonly Segment[],
  trigger: "A40" | "A47",
  sender: string,
  settings: PracticeSettings,
): RegistryChange[] {
  const changes: RegistryChange[] = [];
  let pid: Place | null = null;
  let [pids, mrgs] = [0, 0];
  for (const segment of segments) {
    if (segment.name === "PID") {
      if (pid !== null) missing(pid);
      pid = { segment, sequence: ++pids };
    } else if (segment.name === "MRG") {
      const mrg = { segment, sequence: ++mrgs };
      if (pid === null) return refuse(101, mrg, 1, "has no PID before it, expected the patient that stays");
      changes.push(...pairOf(pid, mrg, trigger, sender, settings));
      pid = null;
    }
  }
  if (pid !== null) missing(pid);
  return changes;
}

function missing(pid: Place): never {
  return refuse(101, pid, 3, "has no MRG after it, expected MRG-1 with the id that goes");
}

function pairOf(
  pid: Place,
  mrg: Place,
  trigger: "A40" | "A47",
  sender: string,
  settings: PracticeSettings,
): RegistryChange[] {
  const stays = ownId({ ...pid, field: 3 }, sender, settings);
  const named = numbersIn(mrg.segment, 1).filter(({ isNull }) => !isNull);
  const prior = named.filter((each) => isOwnId(each, settings));
  if (prior.length === 0) {
    refuse(101, mrg, 1, `${named.length === 0 ? "is missing" : "has other numbers"}, expected the id that goes`);
  }
  const goes = pairOfId(stays, prior);
  if (goes === undefined) {
    const authorities = prior.map(({ authority }) => authority).join(", ");
    return refuse(204, mrg, 1, `is of ${shownValue(authorities)}, expected ${shownValue(stays.authority)} as in PID-3`);
  }
  if (goes.id.length > EXTERNAL_ID_CHARS_MAX) {
    refuse(102, mrg, 1, `has ${goes.id.length} characters, expected at most ${EXTERNAL_ID_CHARS_MAX}`);
  }
  if (goes.id === stays.id) refuse(205, mrg, 1, `is ${shownValue(goes.id)}, expected another id than in PID-3`);
  if (trigger === "A40") return [{ kind: "merge", survivor: stays.id, merged: goes.id }];
  // Staff type the new id at analyzers.
  const numbers: RegistryChange = {
    kind: "patient",
    item: { external_id: stays.id, identifiers: [{ type: "card", value: stays.id }] },
  };
  return [{ kind: "rename", from: goes.id, to: stays.id }, numbers];
}

/**
 * The ids of a pair have one authority and one type. What one of them leaves out does not distinguish them, but an id that leaves
 * nothing out is nearer.
 */
function pairOfId(id: Cx, others: readonly Cx[]): Cx | undefined {
  const pairs = others.filter(({ authority, type }) => agrees(authority, id.authority) && agrees(type, id.type));
  const ofAuthority = pairs.filter(({ authority }) => isSame(authority, id.authority));
  return ofAuthority.find(({ type }) => isSame(type, id.type)) ?? ofAuthority[0] ?? pairs[0];
}
