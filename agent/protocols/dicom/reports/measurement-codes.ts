import type { Code } from "./elements.ts";

// Short codes of ultrasound measurements, as clinics abbreviate them. Concepts and modifiers are from DICOM PS3.16:
// echocardiography (TID 5200 with TID 5203, TID 5300 with CID 12300, TID 5302), OB-GYN (TID 5000) and vascular
// ultrasound (TID 5100). SNOMED concepts have their SCT code; SNOMED_RT lists older SRT codes.

/** Modifier of a measurement, such as (Finding Site, Left Ventricle). */
export interface Modifier {
  readonly name: Code;
  readonly value: Code;
}

/** Short codes of concepts that name a site themselves or need none. */
const CONCEPTS: Readonly<Record<string, string>> = {
  // CID 12201 and CID 12300: left ventricle, linear
  "LN 29436-3": "LVIDd",
  "LN 80007-8": "LVIDd 2D",
  "LN 80008-6": "LVIDd MM",
  "LN 29438-9": "LVIDs",
  "LN 80011-0": "LVIDs 2D",
  "LN 80012-8": "LVIDs MM",
  "LN 18154-5": "IVSd",
  "LN 79969-2": "IVSd 2D",
  "LN 79968-4": "IVSd MM",
  "LN 18158-6": "IVSs",
  "LN 79971-8": "IVSs 2D",
  "LN 79970-0": "IVSs MM",
  "LN 18152-9": "LVPWd",
  "LN 18156-0": "LVPWs",
  "LN 18054-7": "IVS%",
  "LN 18053-9": "LVPW%",
  "LN 18155-2": "IVS/LVPW",
  "LN 18051-3": "FS",
  "LN 29434-8": "FS 2D",
  "LN 29435-5": "FS MM",
  // CID 12202 and CID 12300: left ventricle, volume
  "LN 18043-0": "EF",
  "LN 77891-0": "EF Teich 2D",
  "LN 18049-7": "EF Teich MM",
  "LN 79990-8": "EF 3D",
  "LN 79991-6": "EF BP",
  "LN 79992-4": "EF A2C",
  "LN 79993-2": "EF A4C",
  "LN 18026-5": "LVEDV",
  "LN 79995-7": "LVEDV 3D",
  "LN 79996-5": "LVEDV BP",
  "LN 79998-1": "LVEDV A2C",
  "LN 79999-9": "LVEDV A4C",
  "LN 18148-7": "LVESV",
  "LN 80000-3": "LVESV 3D",
  "LN 80001-1": "LVESV BP",
  "LN 80003-7": "LVESV A2C",
  "LN 80004-5": "LVESV A4C",
  // CID 12203 and CID 12240: left ventricle, other
  "LN 18071-1": "IVRT",
  "SCT 399051002": "IVCT",
  "LN 18087-7": "LV mass",
  "SCT 399266005": "LV MPI",
  "SCT 399109006": "LVAd",
  "SCT 399030000": "LVAs",
  "SCT 399287000": "LV FAC",
  // CID 12204 and CID 12300: right ventricle
  "LN 20304-2": "RVIDd",
  "LN 20305-9": "RVIDs",
  "LN 18153-7": "RVAWd",
  "LN 18157-8": "RVAWs",
  "SCT 399023006": "RVSP",
  "LN 79936-1": "RV FAC",
  "LN 77903-3": "TAPSE",
  // CID 12205 and CID 12206: atria
  "LN 29469-4": "LA",
  "LN 79975-9": "LA 2D",
  "LN 79977-5": "LA MM",
  "LN 17985-3": "LA/Ao",
  "LN 17977-0": "LA area A4C",
  "SCT 399235004": "LA vol",
  "LN 17988-7": "RA area A4C",
  "LN 18070-3": "RA pressure",
  // CID 12207: mitral valve
  "LN 18037-2": "MV E",
  "LN 80070-6": "MV E Vmax",
  "LN 17978-8": "MV A",
  "LN 80066-4": "MV A Vmax",
  "LN 18038-0": "MV E/A",
  "SCT 399354002": "MV E DT",
  "LN 78191-4": "MV DT",
  "SCT 399229004": "MV A dur",
  "LN 18036-4": "EPSS",
  "LN 18040-6": "MV EF slope",
  "LN 80062-3": "MR Vmax",
  "LN 80058-1": "MR maxPG",
  "LN 18035-6": "MR dP/dt",
  "LN 79911-4": "sept E'",
  "LN 80054-0": "lat E'",
  // CID 12208 and CID 12300: tricuspid valve
  "LN 18031-5": "TV E",
  "LN 79925-4": "TV E Vmax",
  "LN 18030-7": "TV A",
  "LN 79923-9": "TV A Vmax",
  "LN 18039-8": "TV E/A",
  "LN 79921-3": "TR Vmax",
  "LN 79937-9": "TR maxPG",
  "LN 18034-9": "TR dP/dt",
  // CID 12209 to CID 12212, CID 12300: semilunar valves and great vessels
  "LN 79964-3": "AV Vmax",
  "LN 79963-5": "AV maxPG",
  "LN 79962-7": "AV meanPG",
  "LN 79965-0": "AV VTI",
  "LN 79949-4": "AR Vmax",
  "LN 79947-8": "AR PHT",
  "LN 17996-0": "AV cusp sep",
  "LN 18041-4": "LVET",
  "LN 79920-5": "PV Vmax",
  "LN 79935-3": "PV maxPG",
  "LN 79910-6": "PV VTI",
  "LN 79919-7": "PR Vmax",
  "LN 18042-2": "RVET",
  "LN 18015-8": "Ao",
  "LN 79953-6": "Ao root",
  "LN 18012-5": "Asc Ao",
  "LN 18013-3": "Desc Ao",
  "LN 18020-8": "MPA",
  "LN 18019-0": "LPA",
  "LN 18021-6": "RPA",
  "LN 80029-2": "LVOT Vmax",
  "LN 80030-0": "LVOT VTI",
  "LN 80028-4": "LVOT diam",
  // CID 12220: common
  "LN 8867-4": "HR",
  // CID 12004 to CID 12009, CID 12019: OB-GYN
  "LN 11820-8": "BPD",
  "LN 11984-2": "HC",
  "LN 11979-2": "AC",
  "LN 11851-3": "OFD",
  "LN 11862-0": "TAD",
  "LN 11818-2": "APAD",
  "LN 11963-6": "FL",
  "LN 11966-9": "HL",
  "LN 11957-8": "CRL",
  "LN 11850-5": "GSD",
  "LN 11948-7": "FHR",
  "LN 11727-5": "EFW",
  "LN 18185-9": "GA",
};

/** Short codes of concepts that need a site (CID 12222, CID 12250, CID 12304, CID 12120 to CID 12122). */
const PROPERTIES: Readonly<Record<string, string>> = {
  "SCT 399133000": "E'",
  "SCT 399007006": "A'",
  "SCT 399167005": "S'",
  "SCT 399140004": "E/E'",
  "LN 11726-7": "PSV",
  "LN 20247-3": "maxPG",
  "LN 20256-4": "meanPG",
  "LN 20354-7": "VTI",
  "LN 20280-4": "PHT",
  "LN 20217-6": "DT",
  "LN 20168-1": "AT",
  "LN 11653-3": "EDV",
  "LN 12023-8": "RI",
  "LN 12008-9": "PI",
  "LN 12144-2": "S/D",
  "LN 59090-1": "ID",
  "LN 59089-3": "thickness",
  "LN 59132-1": "FS",
  "SCT 70822001": "EF",
  "SCT 399301000": "RF",
  "SCT 90096001": "SV",
  "SCT 82799009": "CO",
  "SCT 54993008": "CI",
  "SCT 81827009": "diam",
  "SCT 410668003": "length",
  "SCT 103355008": "width",
  "SCT 131197000": "depth",
  "SCT 42798000": "area",
  "SCT 118565006": "vol",
};

/** Usual names of a property at a site and in a phase. */
const NAMED: Readonly<Record<string, string>> = {
  "LV ID d": "LVIDd",
  "LV ID s": "LVIDs",
  "RV ID d": "RVIDd",
  "RV ID s": "RVIDs",
  "IVS thickness d": "IVSd",
  "IVS thickness s": "IVSs",
  "LV FS": "FS",
  "LV EF": "EF",
  "MV PSV": "MV Vmax",
  "MR PSV": "MR Vmax",
  "AV PSV": "AV Vmax",
  "AR PSV": "AR Vmax",
  "TV PSV": "TV Vmax",
  "TR PSV": "TR Vmax",
  "PV PSV": "PV Vmax",
  "PR PSV": "PR Vmax",
  "LVOT PSV": "LVOT Vmax",
  "RVOT PSV": "RVOT Vmax",
};

/** Words that a modifier adds to a code; "" adds nothing. */
const SITES: Readonly<Record<string, string>> = {
  // CID 12236 and CID 12305
  "SCT 87878005": "LV",
  "SCT 53085002": "RV",
  "SCT 82471001": "LA",
  "SCT 73829009": "RA",
  "SCT 589001": "IVS",
  "SCT 91134007": "MV",
  "SCT 46030003": "TV",
  "SCT 34202007": "AV",
  "SCT 39057004": "PV",
  "SCT 65197004": "MV annulus",
  "SCT 399093001": "sept",
  "SCT 399086000": "lat",
  "SCT 113259005": "TV annulus",
  "SCT 13418002": "LVOT",
  "SCT 44627009": "RVOT",
  "SCT 15825003": "Ao",
  "SCT 8128003": "Ao root",
  "SCT 54247002": "Asc Ao",
  "SCT 81040000": "PA",
  "SCT 45341000": "MPA",
  "SCT 64131007": "IVC",
  "SCT 430757002": "PVein",
  // CID 4 and CID 12023: abdomen
  "SCT 64033007": "kidney",
  "SCT 10200004": "liver",
  "SCT 78961009": "spleen",
  "SCT 28231008": "gallbladder",
  "SCT 89837001": "bladder",
  "SCT 41216001": "prostate",
  "SCT 35039007": "uterus",
  "SCT 15497006": "ovary",
  "SCT 40689003": "testis",
  "SCT 23451007": "adrenal",
  "SCT 38848004": "duodenum",
  "SCT 21306003": "jejunum",
};
/** Cardiac phases (CID 12233 and CID 12307). */
const PHASES: Readonly<Record<string, string>> = {
  "SCT 90892000": "d",
  "SCT 416190007": "d",
  "SCT 111973004": "s",
  "SCT 8997002": "s",
  "SCT 416430001": "s",
};
/** Sides (CID 244). */
const SIDES: Readonly<Record<string, string>> = { "SCT 7771000": "left", "SCT 24028007": "right" };
/** Derivations (CID 3627 and CID 7464). A mean, a median or the best value represents the quantity itself. */
const DERIVATIONS: Readonly<Record<string, string>> = {
  "SCT 373098007": "",
  "SCT 373099004": "",
  "SCT 371912002": "",
  "SCT 258104002": "",
  "SCT 258090004": "",
  "SCT 386136009": "SD",
  "DCM 113061": "SD",
  "SCT 255605001": "min",
  "SCT 56851009": "max",
};
/** Flow directions (CID 12221). */
const DIRECTIONS: Readonly<Record<string, string>> = {
  "SCT 263677008": "",
  "SCT 397417004": "regurgitant",
  "SCT 312004007": "retrograde",
};
const NO_WORDS: Readonly<Record<string, string>> = {};

/** Modifiers of the measured object. The others (image mode, image view, method) describe how it was measured. */
const FINDING_SITE = "SCT 363698007";
const LATERALITY = "SCT 272741003";
const CARDIAC_PHASE = "SCT 272518008";
const FLOW_DIRECTION = "SCT 260674002";
const OTHERS: readonly (readonly [name: string, words: Readonly<Record<string, string>>])[] = [
  ["SCT 106233006", NO_WORDS], // topographical modifier
  ["LN 11951-1", NO_WORDS], // fetus
  ["DCM 121401", DERIVATIONS],
];

/** Valves by site, with the abbreviation of their regurgitation. */
const REGURGITATION: Readonly<Record<string, string>> = { MV: "MR", AV: "AR", TV: "TR", PV: "PR" };
const BACKWARD: readonly string[] = ["regurgitant", "retrograde"];

/** SNOMED RT codes of the SNOMED CT codes above (PS3.16 annex O). */
const SNOMED_RT: Readonly<Record<string, string>> = {
  "G-037E": "399051002",
  "G-037F": "399266005",
  "G-0375": "399109006",
  "G-0374": "399030000",
  "G-0376": "399287000",
  "G-0380": "399023006",
  "G-0383": "399235004",
  "G-0384": "399354002",
  "G-0385": "399229004",
  "G-037A": "399133000",
  "G-037C": "399007006",
  "G-037D": "399167005",
  "G-037B": "399140004",
  "F-32070": "70822001",
  "G-0390": "399301000",
  "F-32120": "90096001",
  "F-32100": "82799009",
  "F-32110": "54993008",
  "M-02550": "81827009",
  "G-D7FE": "410668003",
  "G-A220": "103355008",
  "G-D785": "131197000",
  "G-A166": "42798000",
  "G-D705": "118565006",
  "T-32600": "87878005",
  "T-32500": "53085002",
  "T-32300": "82471001",
  "T-32200": "73829009",
  "T-32410": "589001",
  "T-35300": "91134007",
  "T-35100": "46030003",
  "T-35400": "34202007",
  "T-35200": "39057004",
  "T-35310": "65197004",
  "G-0391": "399093001",
  "G-0392": "399086000",
  "T-35110": "113259005",
  "T-32650": "13418002",
  "T-32550": "44627009",
  "T-42000": "15825003",
  "T-42110": "8128003",
  "T-42100": "54247002",
  "T-44000": "81040000",
  "T-44100": "45341000",
  "T-48710": "64131007",
  "T-4858F": "430757002",
  "T-71000": "64033007",
  "T-62000": "10200004",
  "T-C3000": "78961009",
  "T-63000": "28231008",
  "T-74000": "89837001",
  "T-92000": "41216001",
  "T-83000": "35039007",
  "T-87000": "15497006",
  "T-94000": "40689003",
  "T-B3000": "23451007",
  "T-58200": "38848004",
  "T-58400": "21306003",
  "F-32010": "90892000",
  "R-FAB5C": "416190007",
  "F-32020": "111973004",
  "F-32040": "8997002",
  "R-FAB5B": "416430001",
  "G-A101": "7771000",
  "G-A100": "24028007",
  "R-00317": "373098007",
  "R-00319": "373099004",
  "R-002E1": "371912002",
  "R-41D41": "258104002",
  "R-41D2D": "258090004",
  "R-10047": "386136009",
  "R-404FB": "255605001",
  "G-A437": "56851009",
  "R-42047": "263677008",
  "G-0367": "397417004",
  "R-42E61": "312004007",
  "G-C0E3": "363698007",
  "G-C171": "272741003",
  "R-4089A": "272518008",
  "G-C048": "260674002",
  "G-A1F8": "106233006",
};
const SNOMED_RT_SCHEMES: readonly string[] = ["SRT", "SNM3", "99SDM"];

/** Max characters of a code value that is used unchanged. SH has 16; a Long Code Value (PS3.3 §8.1) may have more. */
const CODE_LENGTH_MAX = 32;
/** Max characters of a modifier's word: SNOMED CT codes have up to 18 digits. */
const WORD_LENGTH_MAX = 18;

/** Coding schemes of PS3.16. Their code values differ in form, so they need no scheme. */
const STANDARD_SCHEMES: readonly string[] = ["LN", "SCT", "DCM", ...SNOMED_RT_SCHEMES];

/** Returns `SCHEME VALUE`, with SNOMED CT in place of SNOMED RT if both name the concept. */
export function conceptKey({ scheme, value }: Code): string {
  const current = SNOMED_RT_SCHEMES.includes(scheme) ? SNOMED_RT[value] : undefined;
  return current === undefined ? `${scheme} ${value}` : `SCT ${current}`;
}

/**
 * Returns the short code of a measurement: the clinic's abbreviation, else the concept's own code value, each with the
 * modifiers of the measured object. @returns null for an unlisted concept with an unusable code value
 */
export function shortCode(concept: Code, modifiers: readonly Modifier[]): string | null {
  const key = conceptKey(concept);
  const word = (name: string, words: Readonly<Record<string, string>>) => wordOf(modifiers, name, words);
  const others = OTHERS.map(([name, words]) => word(name, words));
  const known = CONCEPTS[key];
  if (known !== undefined) return joined(known, ...others);
  const [site, side] = [word(FINDING_SITE, SITES), word(LATERALITY, SIDES)];
  const [phase, direction] = [word(CARDIAC_PHASE, PHASES), word(FLOW_DIRECTION, DIRECTIONS)];
  const property = PROPERTIES[key];
  if (property === undefined) {
    const own = ownCode(concept);
    return own === null ? null : joined(own, site, side, phase, direction, ...others);
  }
  const backward = BACKWARD.includes(direction) ? REGURGITATION[site] : undefined;
  const whole = joined(backward ?? site, side, property, phase);
  return joined(NAMED[whole] ?? whole, backward === undefined ? direction : "", ...others);
}

/** Joins the device's words for the concept and all its modifiers. */
export function meaningOf(concept: Code, modifiers: readonly Modifier[]): string {
  const name = concept.meaning || concept.value || "(no name)";
  const details = [...new Set(modifiers.map(({ value }) => value.meaning || value.value).filter(Boolean))];
  return details.length === 0 ? name : `${name} (${details.join(", ")})`;
}

function wordOf(modifiers: readonly Modifier[], name: string, words: Readonly<Record<string, string>>): string {
  const found = modifiers.filter((modifier) => conceptKey(modifier.name) === name);
  return joined(...found.map(({ value }) => words[conceptKey(value)] ?? bareWord(value.value)));
}

/** Returns a code value, or the characters of a text in its place. */
function bareWord(text: string): string {
  return text.replaceAll(/\s/g, "").slice(0, WORD_LENGTH_MAX);
}

function joined(...words: readonly string[]): string {
  return words.filter((word) => word !== "").join(" ");
}

/**
 * Returns the code value, prefixed with its scheme unless that is a standard one. No coding scheme has codes with white space.
 */
function ownCode({ scheme, value }: Code): string | null {
  if (value === "" || value.length > CODE_LENGTH_MAX || /\s/.test(value)) return null;
  return STANDARD_SCHEMES.includes(scheme) || scheme === "" ? value : `${scheme}:${value}`;
}
