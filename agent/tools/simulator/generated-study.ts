import {
  COMPREHENSIVE_SR,
  COMPUTED_RADIOGRAPHY_IMAGE,
  ULTRASOUND_MULTI_FRAME_IMAGE,
  VL_ENDOSCOPIC_IMAGE,
} from "../../protocols/dicom/uids.ts";
import { type Dataset, encodeDataset } from "../../protocols/dicom/encode.ts";

// Generates studies for the simulator and for tests: headers as veterinary devices write them, and synthetic pixels.

export const STUDY_KINDS = ["cr", "us", "es", "sr"] as const;
export type StudyKind = (typeof STUDY_KINDS)[number];

export interface GeneratedPatient {
  readonly id: string;
  readonly name: string;
  /** Species in the device's words. */
  readonly species: string;
}

export interface GeneratedStudy {
  readonly patient: GeneratedPatient;
  /** Root of all UIDs of the study, at most 50 characters. */
  readonly uid: string;
  /** `YYYYMMDDHHMMSS`. */
  readonly at: string;
}

/** An instance with its dataset in Explicit VR Little Endian. */
export interface GeneratedInstance {
  readonly sopClass: string;
  readonly sopInstance: string;
  readonly dataset: Uint8Array;
}

const DEVICES = {
  cr: { modality: "CR", sopClass: COMPUTED_RADIOGRAPHY_IMAGE, maker: "Vetwire", model: "Simulated CR" },
  us: { modality: "US", sopClass: ULTRASOUND_MULTI_FRAME_IMAGE, maker: "Vetwire", model: "Simulated US" },
  es: { modality: "ES", sopClass: VL_ENDOSCOPIC_IMAGE, maker: "Vetwire", model: "Simulated ES" },
  sr: { modality: "SR", sopClass: COMPREHENSIVE_SR, maker: "Vetwire", model: "Simulated US" },
} as const;

/** Generates the `number`-th instance of a kind. A report (`sr`) has measurements of an echocardiogram. */
export function generateInstance(kind: StudyKind, study: GeneratedStudy, number: number): GeneratedInstance {
  const { modality, sopClass, maker, model } = DEVICES[kind];
  const { patient, uid, at } = study;
  const sopInstance = `${uid}.${STUDY_KINDS.indexOf(kind) + 1}.${number}`;
  const [date, clock] = [at.slice(0, 8), at.slice(8)];
  const dataset: Dataset = [
    [0x0008_0005, "CS", "ISO_IR 100"],
    [0x0008_0016, "UI", sopClass],
    [0x0008_0018, "UI", sopInstance],
    [0x0008_0020, "DA", date],
    [0x0008_0023, "DA", date],
    [0x0008_0030, "TM", clock],
    [0x0008_0033, "TM", clock],
    [0x0008_0050, "SH", ""],
    [0x0008_0060, "CS", modality],
    [0x0008_0070, "LO", maker],
    [0x0008_1090, "LO", model],
    [0x0010_0010, "PN", patient.name],
    [0x0010_0020, "LO", patient.id],
    [0x0010_0030, "DA", ""],
    [0x0010_0040, "CS", ""],
    [0x0010_2201, "LO", patient.species],
    [0x0020_000d, "UI", uid],
    [0x0020_000e, "UI", `${uid}.${STUDY_KINDS.indexOf(kind) + 1}`],
    [0x0020_0010, "SH", ""],
    [0x0020_0013, "IS", String(number)],
    ...(kind === "sr" ? REPORT : pixels(kind === "us" ? 8 : 1, kind === "cr" ? 256 : 64, number)),
  ];
  return { sopClass, sopInstance, dataset: encodeDataset(dataset) };
}

function pixels(frames: number, side: number, seed: number): Dataset {
  const data = new Uint8Array(frames * side * side);
  for (let at = 0; at < data.length; at++) data[at] = ((at % side) + Math.floor(at / side) * (seed + 1)) & 0xff;
  return [
    [0x0028_0002, "US", 1],
    [0x0028_0004, "CS", "MONOCHROME2"],
    ...(frames > 1 ? [[0x0028_0008, "IS", String(frames)] as const] : []),
    [0x0028_0010, "US", side],
    [0x0028_0011, "US", side],
    [0x0028_0100, "US", 8],
    [0x0028_0101, "US", 8],
    [0x0028_0102, "US", 7],
    [0x0028_0103, "US", 0],
    [0x7fe0_0010, "OB", data],
  ];
}

function code(value: string, scheme: string, meaning: string): Dataset {
  return [
    [0x0008_0100, "SH", value],
    [0x0008_0102, "SH", scheme],
    [0x0008_0104, "LO", meaning],
  ];
}

function container(concept: Dataset, content: readonly Dataset[]): Dataset {
  return [
    [0x0040_a010, "CS", "CONTAINS"],
    [0x0040_a040, "CS", "CONTAINER"],
    [0x0040_a043, "SQ", [concept]],
    [0x0040_a050, "CS", "SEPARATE"],
    [0x0040_a730, "SQ", content],
  ];
}

function modifier(concept: Dataset, value: Dataset): Dataset {
  return [
    [0x0040_a010, "CS", "HAS CONCEPT MOD"],
    [0x0040_a040, "CS", "CODE"],
    [0x0040_a043, "SQ", [concept]],
    [0x0040_a168, "SQ", [value]],
  ];
}

function measurement(concept: Dataset, value: string, unit: Dataset): Dataset {
  const measured: Dataset = [
    [0x0040_08ea, "SQ", [unit]],
    [0x0040_a30a, "DS", value],
  ];
  return [
    [0x0040_a010, "CS", "CONTAINS"],
    [0x0040_a040, "CS", "NUM"],
    [0x0040_a043, "SQ", [concept]],
    [0x0040_a300, "SQ", [measured]],
  ];
}

/** Content after TID 5200, Echocardiography Procedure Report (PS3.16). */
const REPORT: Dataset = [
  [0x0040_a040, "CS", "CONTAINER"],
  [0x0040_a043, "SQ", [code("125200", "DCM", "Adult Echocardiography Procedure Report")]],
  [0x0040_a050, "CS", "SEPARATE"],
  [
    0x0040_a730,
    "SQ",
    [
      container(code("121070", "DCM", "Findings"), [
        modifier(code("363698007", "SCT", "Finding Site"), code("87878005", "SCT", "Left Ventricle")),
        measurement(
          code("29436-3", "LN", "Left Ventricle Internal End Diastolic Dimension"),
          "3.85",
          code("cm", "UCUM", "centimeter"),
        ),
        measurement(
          code("18043-0", "LN", "Left Ventricular Ejection Fraction by US"),
          "64",
          code("%", "UCUM", "percent"),
        ),
      ]),
      container(code("121070", "DCM", "Findings"), [
        modifier(code("363698007", "SCT", "Finding Site"), code("82471001", "SCT", "Left Atrium")),
        measurement(code("17985-3", "LN", "Left Atrium to Aortic Root Ratio"), "1.31", code("1", "UCUM", "no units")),
      ]),
    ],
  ],
];
