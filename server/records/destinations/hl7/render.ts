import type { Language } from "../../../../shared/api/language.ts";
import type { Session } from "../../../database/query.ts";
import { optionsOf } from "../destinations.ts";
import type { HeldBefore, Render, Rendered } from "../queue.ts";
import { loadForDestination } from "./content.ts";
import { type Held, type OruHeader, reportMessage, withdrawalMessage } from "./oru.ts";

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
    const { wrong, held } = decide(before, study?.patient.fp ?? null);
    if (wrong !== null) {
      const payload = Buffer.from(withdrawalMessage(wrong, header));
      return { payload, fileName: null, revision, held: null, continues: study !== null };
    }
    if (study === null) return null;
    const asked = { clinicId: destination.clinic_id, fp: studyFp, language, zone };
    const pdf = options.pdf ? await makeReport(asked) : null;
    const report = reportMessage({ ...study, pdf }, header, held);
    if (report === null) return null;
    const payload = Buffer.from(report.message);
    return { payload, fileName: null, revision, held: JSON.stringify(report.held), continues: false };
  };
}

/** What has to be taken back first, since it names another animal; else what a correction refers to. */
function decide(
  before: HeldBefore,
  patient: string | null,
): { readonly wrong: Held | null; readonly held: Held | null } {
  const [held, uncertain] = [parsed(before.acknowledged), parsed(before.uncertain)];
  const wrong = [uncertain, held].find((each) => each !== null && each.patient_fp !== patient) ?? null;
  return { wrong, held };
}

function parsed(held: string | null): Held | null {
  return held === null ? null : (JSON.parse(held) as Held);
}
