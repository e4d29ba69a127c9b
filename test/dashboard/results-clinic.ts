import { newFp } from "../../shared/api/fp.ts";
import type { PushedStudy } from "../../shared/api/study.ts";
import type { ClinicRanges } from "../../shared/clinical/clinic-ranges.ts";
import { type Measurement, resultsOf } from "../../shared/clinical/results.ts";
import { flaggedPatient, signalmentAt } from "../../shared/clinical/signalment.ts";
import { clinic, connection, patient, published, study } from "../server/harness.ts";

// A clinic with results of every kind, for tests of the list and of a study.

/** A text that would run as a script if a page took it for markup. */
export const hostile = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>`;

export function resultsClinic() {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const dog = patient({ name: "Karabaş", external_ids: ["985112003456789"] });
  const foreign = patient({ name: "Rex" });
  const entities = [
    [clinic(ours), clinic(theirs), dog, foreign],
    [connection(dog.fp, ours), connection(foreign.fp, theirs)],
  ];
  return { ours, theirs, dog, foreign, entities };
}

const printed = { comparator: null, ordinal: false, device_range: null, device_flag: null };
export const measured = (code: string, value: number, unit: string, more: Partial<Measurement> = {}): Measurement => ({
  ...{ ...printed, code, value, text: String(value), unit },
  ...more,
});

/** The measurements of a chemistry profile: low, high, critical, normal, a bound, a word, and codes outside the catalogue. */
export const profile: readonly Measurement[] = [
  measured("ALT", 310, "U/L", {
    device_range: { low: 10, high: 100, text: "10-100", species: "dog" },
    device_flag: "H",
  }),
  measured("ALB", 1.2, "g/dL", { text: "1,2" }),
  measured("K", 8.9, "mmol/L", {
    device_range: { low: 3, high: 6, text: "3-6", species: "General" },
    device_flag: "HH",
  }),
  measured("PLT", 12, "10*3/uL"),
  measured("TP", 6.5, "g/dL"),
  measured("TBIL", 0.2, "mg/dL", { comparator: "<", text: "<0.2" }),
  measured("QXZ-7", 12.5, "ng/mL", { codeSource: "device", device_code: "QXZ-7", device_label: "Canine Quirk" }),
  measured("CRP", 14, "mg/L", {
    codeSource: "clinic",
    device_code: "c-RP2",
    comment: "hemolysed sample; the device found bubbles",
  }),
];

/** A pushed study of a known animal, flagged as an agent flags it. */
export function chemistry(
  of: ReturnType<typeof patient>,
  measurements: readonly Measurement[] = profile,
  changes: Partial<PushedStudy> = {},
  ranges: ClinicRanges | null = null,
): PushedStudy {
  const { device_name, acquired_at } = { ...study(), ...changes };
  const context = {
    signalment: signalmentAt(of, acquired_at),
    ...{ instrument: device_name, acquired_at, ranges },
  };
  const { results, snapshot } = resultsOf(measurements, context, ["the sample was diluted 1:2"]);
  return study({
    patient_fp: of.fp,
    results,
    snapshot: { ...snapshot, animal: flaggedPatient(published(of)) },
    source: { device_id: "chem-1", message_id: "1", sample_ids: ["A-77"] },
    ...changes,
  });
}
