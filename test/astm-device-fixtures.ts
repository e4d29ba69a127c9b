import { frame } from "./agent/protocols/astm/wire.ts";

// ASTM fixtures of device models: documented layouts with invented data.

export interface AstmDeviceCase {
  readonly name: string;
  readonly wire: string;
  readonly patient: "dog" | "cat" | null;
}

/** Encodes an ETX frame per record. */
function session(records: readonly string[]): string {
  return `<ENQ>${records.map((record, index) => frame((index + 1) % 8, `${record}<CR>`)).join("")}<EOT>`;
}

/** Encodes the whole message in one ETX frame. */
function oneFrame(records: readonly string[]): string {
  return `<ENQ>${frame(1, records.map((record) => `${record}<CR>`).join(""))}<EOT>`;
}

/** Cuts the message at the given characters; ETX ends only the last frame. */
function cutAt(records: readonly string[], places: readonly number[]): string {
  const text = records.map((record) => `${record}\r`).join("");
  const edges = [0, ...places, text.length];
  const frames = edges.slice(1).map((edge, index) => {
    const part = text.slice(edges[index], edge).replaceAll("\r", "<CR>");
    return frame((index + 1) % 8, part, index === places.length ? "ETX" : "ETB");
  });
  return `<ENQ>${frames.join("")}<EOT>`;
}

const END = "L|1|N";
const AT = "20261121113015";

const epocResults: readonly (readonly [string, string, string, string])[] = [
  ["Hct", "39", "%", "N"],
  ["Na+", "147", "mmol/L", "N"],
  ["K+", "4.1", "mmol/L", "N"],
  ["Ca++", "1.31", "mmol/L", "N"],
  ["Cl-", "115", "mmol/L", "N"],
  ["pH", "7.391", "", "N"],
  ["pCO2", "41.2", "mmHg", "N"],
  ["pO2", "88.5", "mmHg", "L"],
  ["Glu", "104", "mg/dL", "N"],
  ["Lact", "1.85", "mmol/L", "H"],
  ["cHgb", "13.3", "g/dL", "N"],
  ["HCO3-act", "23.9", "mmol/L", "N"],
  ["cTCO2", "25.2", "mmol/L", "N"],
  ["BE(ecf)", "-0.4", "mmol/L", "N"],
  ["O2SAT", "-----", "%", "N"],
  ["Test duration", "231.4", "", "N"],
  ["Department name", "Clinic", "", "N"],
  ["Sample type", "Venous", "", "N"],
  ["Hemodilution", "No", "", "N"],
  ["Ambient Temperature", "23.4", "C", "N"],
  ["Card Lot", "09-26001-10", "", "N"],
];
const epocRun = [
  "H|\\^&|||EPOC^Blood Analysis^EDM^Data Manager|||||||P||202645113015", // H-14 is no time
  "P|1|4711|||||||||||||||||||||20261121113500||||||||||",
  "C|1|L|fasted|",
  "O|1|4711||ALL|R|20261121113015|20261121113015||||X||||1||||||||||F",
  ...epocResults.map(
    ([name, value, unit, flag], index) =>
      `R|${index + 1}|^^^${name}^^^^323.1|${value}|${unit}||${flag}||F||^vt1||${AT}|323.1`,
  ),
  END,
];

const epoc: readonly AstmDeviceCase[] = [
  { name: "results-and-run-data", wire: session(epocRun), patient: "dog" },
  { name: "without-patient", wire: session(epocRun.filter((record) => !/^[PC]\|/.test(record))), patient: "dog" },
];

const dcaHeader = "H|\\^&|||DCA VANTAGE^04.99.00.00^S099999|||||||P||20261121113500";
const dcaUrine = [
  "R|1|^^^Alb|41.2|mg/L||||F|||20261121113015",
  "C|1|I|1.000^0.0 mg/L|G",
  "R|2|^^^Crt|105.4|mg/dL||||F|||20261121113015",
  "C|1|I|1.000^0.0 mg/dL|G",
  "R|3|^^^Ratio|39.1|mg/g||H||F|||20261121113015",
];
const dcaOrder = (action: string) => `O|1||731^0099||||||||${action}||||||||||||||F`;

const dca: readonly AstmDeviceCase[] = [
  {
    name: "urine-cartridge",
    wire: oneFrame([dcaHeader, "P|1|4711", dcaOrder(""), ...dcaUrine, END]),
    patient: "dog",
  },
  {
    name: "hba1c",
    wire: oneFrame([
      dcaHeader,
      "P|1|4711|||Aydin^Zeytin",
      dcaOrder("").replace("731", "732"),
      "R|1|^^^HbA1c|<2.5|%||<||F|||20261121113015",
      "C|1|I|1.000^0.0 %^NGSP^29 mg/dL|G",
      END,
    ]),
    patient: "dog",
  },
  {
    name: "control",
    wire: oneFrame([dcaHeader, "P|1|NORMAL 0042", dcaOrder("Q"), ...dcaUrine, END]),
    patient: "dog",
  },
];

const pentraRun = [
  "H|\\^&|||ABX|||||||P|E1394-97|20261121113015",
  "P|1||4711||^Zeytin|||U",
  "O|1|V36AAAA9^02^08||^^^DIF|||||||||||Standard||||||||||F",
  "R|1|^^^WBC^804-5^1|19.8|1||H||W||op||20261121113015",
  "C|1|I|Alarm_WBC^LMNE+|I",
  "R|2|^^^NEU#^751-8^1|14.1|1||H||F||op||20261121113015",
  "R|3|^^^NEU%^770-8^1|71.2|1||||F||op||20261121113015",
  "R|4|^^^LIC#^X-LIC^1|0.11|1||||F||op||20261121113015",
  "R|5|^^^RBC^789-9^1|6.72|1||||F||op||20261121113015",
  "R|6|^^^HGB^717-9^1|15.1|1||||F||op||20261121113015",
  "R|7|^^^HCT^4544-3^1|45.0|1||||F||op||20261121113015",
  "R|8|^^^MCV^787-2^1|67|1||LL||F||op||20261121113015",
  "R|9|^^^PLT^777-3^3|318|1||||D||op||20261121113015",
  "R|10|^^^MPV^776-5^1|8.4|1||||M||op||20261121113015",
  "R|11|^^^PDW^X-PDW^1|15.8|1||||F||op||20261121113015",
  "R|12|^^^BAS#^704-7^1|-----|1||HH||X||op||20261121113015",
  "R|13|^^^EOS#^711-2^1|0.40|1||||N||op||20261121113015",
  END,
];

const pentra: readonly AstmDeviceCase[] = [
  { name: "blood-count", wire: session(pentraRun), patient: "dog" },
  {
    // Pentra 60: R-5 is text of a charset without micro and cube.
    name: "garbled-units",
    wire: session([
      "H|\\^&|||ABX|||||||P|E1394-97|20261121113015",
      "P|1||4711",
      "O|1|17990001|761|^^^DIF|||||||||||||||||||||F",
      "R|1|^^^WBC^804-5|10.4|10)/mm)||||F",
      "R|2|^^^RBC^789-9|6.14|102/mm)||||F",
      "R|3|^^^HGB^717-9|14.8|g/dl||||F",
      "R|4|^^^MCV^787-2|66|5m)||||F",
      END,
    ]),
    patient: "dog",
  },
  {
    // Pentra 400, with an empty H-5: test number and the laboratory's name, and unit codes of unknown meaning.
    name: "chemistry",
    wire: session([
      "H|\\^&||||||||||P|E1394-97|20261121114100",
      "P|1||4711||Aydin^Zeytin|||M",
      "O|1|7||||20261121113013|20261121112800||||||||1||||||||||F",
      "R|1|^^^211^CREA3|0.88|15||||F|||20261121113015",
      "R|2|^^^5^AST|42|26||H||F|||20261121113020",
      "C|1|I|Flag^NORM_RANGEH^CALC_ERROR|I",
      END,
    ]),
    patient: "dog",
  },
  {
    name: "technician",
    wire: session(pentraRun.map((record, index) => (index === 0 ? record.replace("|P|E1394", "|D|E1394") : record))),
    patient: "dog",
  },
];

const abl: readonly AstmDeviceCase[] = [
  {
    name: "blood-gas",
    wire: session([
      "H|\\^&|||ABL80 BASIC^399999||||||||1|20261121114712",
      "P|1||4711||Aydin^Zeytin",
      "O|1||Sample #^311|||||||vt1|||||Arterial^||||||||||F",
      "R|1|^^^T^I|38.4|Cel||||F||vt1|20261121113015|20261121113015",
      "R|2|^^^FIO2^I|21|%||N||F",
      "R|3|^^^pH^M|7.391|||N||F",
      "R|4|^^^pH(T)^C|7.371|||||F",
      "R|5|^^^pCO2^M|41.2|mmHg||N||F",
      "R|6|^^^pO2^M|.....|mmHg||||F",
      "R|7|^^^Na+^M|147|mmol/L||N||F",
      "R|8|^^^K+^M|?4.60|mmol/L||H||F",
      "C|1|I|377^Calibration Drift 2 out of range|I",
      "R|9|^^^Ca++^M|1.31|mmol/L||N||F",
      "R|10|^^^sO2^C|0.962|||N||F",
      "R|11|^^^SBE^C|-0.4|mmol/L||||F",
      END,
    ]),
    patient: "dog",
  },
];

const xnRun = [
  "H|\\^&|||    XN-350^00-24^99999^^^^ZZ000002||||||||E1394-97",
  "P|1|||4711|^Zeytin^Aydin||20190504|F|||||^||||||||||||^^^",
  "C|1||",
  "O|1||^^                V36AAAA9^B|^^^^WBC\\^^^^RBC\\^^^^NEUT#|||||||N||||||||||||||F",
  "C|1||",
  "R|1|^^^^WBC^1|9.81|10*3/uL||N||F||||20261121113015",
  "R|2|^^^^NEUT#^1|7.04|10*3/uL||W||F||||20261121113015",
  "R|3|^^^^PLT^1|318|10*3/uL||N||P||||20261121113015",
  "R|4|^^^^HGB^1|15.1|g/dL||N||I||||20261121113015",
  "R|5|^^^^RET%^1|----|%||A||I||||20261121113015",
  "R|6|^^^^IG%^1|0.4|%||N||F||||20261121113015",
  "R|7|^^^^Lymphopenia||||A||F||||20261121113015",
  "R|8|^^^^Left_Shift?|110|||A||F||||20261121113015",
  "R|9|^^^^DIST_RBC|PNG&R&20261121&R&2026_11_21_11_30_15_RBC.PNG|||N||F||||20261121113015",
  END,
];

const xn: readonly AstmDeviceCase[] = [
  { name: "suspicions-and-reruns", wire: session(xnRun), patient: "dog" },
  {
    name: "control",
    wire: session(xnRun.map((record) => record.replace("V36AAAA9^B", "QC-60990801^C"))),
    patient: "dog",
  },
];

const vitrosHeader = "H|\\^&|||3600999||||||||LIS2-A|20261121113100";
const vitros: readonly AstmDeviceCase[] = [
  {
    name: "thyroid-and-indices",
    wire: session([
      vitrosHeader,
      "P|1|4711",
      "O|1|44444422^2^10||^^^1.0000+001+1.0\\002+1.0\\777+1.0\\950+1.0|R||||||N||||5||||||||||F",
      "R|1|^^^1.0000+001+1.0|<0.015|mIU/L||^0^||V|||20261121113011|20261121113028|36000999",
      "R|2|^^^1.0000+002+1.0|28.4|nmol/L||^0^||V|||20261121113011|20261121113028|36000999",
      "R|3|^^^1.0000+777+1.0|No Result|ng/mL||^0^||V|||20261121113011|20261121113028|36000999",
      "R|4|^^^1.0000+778+1.0|3.1|ng/mL||^0^||V|||20261121113011|20261121113028|36000999",
      "R|5|^^^1.0000+950+1.0|51|||^0^NQ||V|||20261121113011|20261121113028|36000999",
      END,
    ]),
    patient: "dog",
  },
  { name: "query", wire: session([vitrosHeader, "Q|1|^1068799||ALL||||||||O", END]), patient: "dog" },
  { name: "withdrawn-query", wire: session([vitrosHeader, "Q|1|^1068799||ALL||||||||A", "L|1|T"]), patient: "dog" },
];

const em200Header = (second: string) => `H|\`^&||||||||||P|E 1394-97|2026112111400${second}`;
const em200Result = (code: string, value: string, second: string) =>
  `R|1|^^^${code}|${value}|mg/dl|^DEFAULT|N|N|F||||2026112111300${second}`;
const em200: readonly AstmDeviceCase[] = [
  {
    name: "one-test-per-message",
    wire:
      session([
        em200Header("3"),
        "P|1|0||||||F||||||||0|0",
        "O|1|Zeytin^03^1^1||^^^GLU|||||||||||SERUM",
        em200Result("GLU", "101.5", "3"),
        "C|1|I|Instrument Flag N",
        END,
      ]) +
      session([
        em200Header("9"),
        "P|1|0||||||F||||||||0|0",
        "O|1|Zeytin^03^1^1||^^^ALTT|||||||||||SERUM",
        em200Result("ALTT", "52.0", "9"),
        END,
      ]),
    patient: "dog",
  },
];

const c111 = [
  "H|\\^&|||c111VET^Roche^c111^4.2.2.1999^1^19999|||||host|RSUPL^REAL|P|1|20261121114000",
  "P|1||",
  "O|1||BMM 399 CONTROLE^^3||S||||||N|||||||||||20261121113000|||F",
  "R|1|^^^687|28.6|U/L||N||F||LABO||20261121113026",
  "C|1|I|111^? QC|I",
  "M|1|RR^BM^c111^1|23|23\\23\\21",
  END,
];
const stago = [
  "H|\\^&|||STA-C^9.9|||||||P|1394-97|20261121114000",
  "P|1||4711",
  "O|1|V36AAAA9||^^^SPT|R||20261121112000||||N||||||||||||||F",
  "R|1|^^^SPT^F^64|7.9|S||N||F||||20261121113015",
  "C|1|I|controls are invalid|I",
  "R|2|^^^SINR^F^64|1.02|INR ISI||N||F||||20261121113015",
  "M|1|REAGENTS^110999",
  END,
];
const e411 = [
  "H|\\^&|||cobas-e411^1|||||host|RSUPL^BATCH|P|1",
  "P|1",
  "O|1|000009327|159^0^1^^S1^SC|^^^8^1\\^^^5^1\\^^^3^1|R||20261121111500||||N||||1|||||||20261121113015|||F",
  "R|1|^^^8/1/not|1.95|uIU/ml||N||F||op|||E1",
  "R|2|^^^5/1/not|-1^0.412|COI||N||F||op|||E1",
  "R|3|^^^3/1/not|<3.00|ng/ml||LL||F||op|||E1",
  "C|1|I|27|I",
  END,
];

const generic: readonly AstmDeviceCase[] = [
  { name: "cobas-c111-control", wire: oneFrame(c111), patient: "dog" },
  {
    name: "cobas-c111",
    wire: oneFrame(c111.map((record) => record.replace("BMM 399 CONTROLE", "V36AAAA9"))),
    patient: "dog",
  },
  { name: "cobas-e411", wire: cutAt(e411, [200, 260]), patient: "dog" },
  { name: "stago", wire: session(stago), patient: "dog" },
];

export const astmDeviceFolders: Readonly<Record<string, readonly AstmDeviceCase[]>> = {
  epoc,
  "siemens-dca": dca,
  "horiba-pentra": pentra,
  "radiometer-abl": abl,
  "sysmex-xn": xn,
  vitros,
  "transasia-em200": em200,
  "generic-astm": generic,
};
