import { type Code, codes, type Elements, items, text, texts } from "./elements.ts";
import { type Measurement, readMeasurements } from "./structured-report.ts";

/** Header fields of an instance as the device wrote them; "" or empty for missing ones. */
export interface Header {
  readonly study: string;
  readonly sopClass: string;
  readonly modality: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly station: string;
  readonly patientName: string;
  readonly patientId: string;
  readonly otherPatientIds: readonly string[];
  readonly accession: string;
  readonly sex: string;
  /** ALTERED, UNALTERED or "". */
  readonly neutered: string;
  readonly birthDate: string;
  /** Weight in kg. */
  readonly weight: string;
  readonly speciesCodes: readonly Code[];
  readonly species: string;
  readonly breed: string;
  readonly responsiblePerson: string;
  /** Dates with times, the nearest to the acquisition first. */
  readonly times: readonly string[];
  /** UTC offset such as `+0300`; "" for times in the device's zone. */
  readonly utcOffset: string;
  /** Measurements of a structured report. */
  readonly measurements: readonly Measurement[];
  /** Problem of a header that was read in part; null for a complete one. */
  readonly cutShort: string | null;
  /** Texts are UTF-8, though the header declares this character set or, as "", none. Absent otherwise. */
  readonly utf8Under?: string;
}

export function readHeader(elements: Elements, cutShort: string | null, utf8Under: string | null = null): Header {
  const own = (tag: string) => text(elements, tag);
  // Older devices write 2026.11.21 and 10:15:00, others 2026-11-21.
  const date = (tag: string) => own(tag).replace(/^(\d{4})[-./](\d\d)[-./](\d\d)(?=$|[ T\d])[ T]?/, "$1$2$3");
  const time = (day: string, clock: string) => date(day) + own(clock).replaceAll(":", "");
  return {
    study: own("0020000D"),
    sopClass: own("00080016"),
    modality: own("00080060").toUpperCase(),
    manufacturer: own("00080070"),
    model: own("00081090"),
    station: own("00081010"),
    patientName: own("00100010"),
    patientId: own("00100020"),
    otherPatientIds: [
      ...texts(elements, "00101000"),
      ...items(elements, "00101002").map((item) => text(item, "00100020")),
    ].filter((id) => id !== ""),
    accession: own("00080050"),
    sex: own("00100040"),
    neutered: own("00102203"),
    birthDate: date("00100030"),
    weight: own("00101030"),
    speciesCodes: codes(elements, "00102202"),
    species: own("00102201"),
    breed: own("00102292") || (codes(elements, "00102293")[0]?.meaning ?? ""),
    responsiblePerson: own("00102297"),
    times: [
      date("0008002A"), // acquisition, date and time in one
      time("00080022", "00080032"), // acquisition
      time("00080023", "00080033"), // content
      time("00080021", "00080031"), // series
      time("00080020", "00080030"), // study
    ].filter((when) => /^\d{8}/.test(when)),
    utcOffset: own("00080201"),
    measurements: readMeasurements(elements),
    cutShort,
    ...(utf8Under === null ? {} : { utf8Under }),
  };
}
