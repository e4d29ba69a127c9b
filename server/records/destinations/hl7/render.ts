import type { Language } from "../../../../shared/api/language.ts";
import type { Session } from "../../../database/query.ts";
import { optionsOf } from "../destinations.ts";
import { type HeldOfAnimal, withdrawalOf } from "../held.ts";
import type { Render, Rendered } from "../queue.ts";
import { loadForDestination } from "./content.ts";
import { joined, type OruHeader, parseHeld, reportMessage, withdrawalMessage } from "./oru.ts";

/** Makes the report of a study as PDF; null if the study is gone. */
export type MakeReport = (asked: {
  readonly clinicId: number;
  readonly fp: string;
  readonly language: Language;
  readonly zone: string;
}) => Promise<Uint8Array | null>;

/**
 * Makes the HL7 messages of a destination. A study that moved to another animal, or away from its own, is withdrawn for that animal
 * first, and reported for the new one in a message of its own.
 */
export function renderHl7(session: Session, now: () => number, makeReport: MakeReport): Render {
  return async ({ destination, studyFp, controlId, before }): Promise<Rendered | null> => {
    const loaded = await loadForDestination(session, destination.clinic_id, studyFp);
    if (loaded === undefined) return null;
    const { revision, study, language, zone, software } = loaded;
    const options = optionsOf(destination);
    const header: OruHeader = {
      ...{ controlId, at: now(), zone, facility: options.facility },
      application: options.application === "" ? (software ?? "") : options.application,
      animalFirst: options.name_order === "animal_first",
      localFirst: options.local_first,
    };
    const wrong = [...before].filter(([animal]) => animal !== study?.patient.fp);
    const [first] = wrong;
    if (first !== undefined) {
      const [animal, { acknowledged, uncertain }] = first;
      const held = joined([...uncertain.toReversed(), acknowledged].flatMap(parseHeld));
      if (held === null) throw new Error(`nothing of ${studyFp} is held`);
      const payload = Buffer.from(withdrawalMessage(held, header));
      const continues = study !== null || wrong.length > 1;
      return { payload, fileName: null, revision, held: withdrawalOf(animal), continues };
    }
    if (study === null) return null;
    const asked = { clinicId: destination.clinic_id, fp: studyFp, language, zone };
    const pdf = options.pdf ? await makeReport(asked) : null;
    const { acknowledged, uncertain } = before.get(study.patient.fp) ?? NOTHING;
    const [held = null] = parseHeld(acknowledged);
    const maybe = joined(uncertain.toReversed().flatMap(parseHeld));
    const report = reportMessage({ ...study, pdf }, header, held, maybe);
    if (report === null) return null;
    const payload = Buffer.from(report.message);
    return { payload, fileName: null, revision, held: JSON.stringify(report.held), continues: false };
  };
}

const NOTHING: HeldOfAnimal = { acknowledged: null, uncertain: [] };
