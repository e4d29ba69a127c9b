import { crc16Of } from "../agent/protocols/bytes.ts";
import { bytes } from "./agent/protocols/astm/wire.ts";

// Wire texts of devices with a layout of their own, for make-fixtures.ts. Each is written from the documented layout, with a made-up
// patient.

interface TextCase {
  readonly name: string;
  /** Control characters by name. */
  readonly wire: string;
}

const lines = (texts: readonly string[], end = "<LF>") => texts.map((text) => `${text}${end}`).join("");

const spotchemHead = ["26/11/21     11:30  ", "ID# 4711            "];
const spotchemMulti = [
  " MULTI:PANEL-Z      ",
  "BUN      7.4 mmol/L ",
  "Glu   <RS> 16.4 mmol/L ",
  "ALP   UNDER <  0.83 ",
  "T-Pro <US>   52 g/L    ",
  "GPT     1.36 ukat/L ",
  "Cre      152 umol/L ",
  "Xyz     12.0 mg/dL  ",
];
/** The line of a SINGLE slide behind other slides has no blank before it. */
const single = "SINGLE:             ";

const spotchemEz: readonly TextCase[] = [
  { name: "multi", wire: `<STX>${lines([...spotchemHead, ...spotchemMulti])}<ETX>` },
  {
    name: "multi-and-single",
    wire: `<STX>${lines([...spotchemHead, ...spotchemMulti.slice(0, 3)])}<ETB><STX>${lines([single, "LDH     4.10 ukat/L "])}<ETX>`,
  },
  {
    name: "multi-and-two-singles",
    wire: `<STX>${lines([...spotchemHead, ...spotchemMulti.slice(0, 3)])}<ETB><LF><STX>${lines([single, "LDH     4.10 ukat/L "])}<ETB><LF><STX>${lines([single, "Mg      1.31 mmol/L "])}<ETX>`,
  },
  {
    name: "single",
    wire: `<STX>${lines([...spotchemHead, " SINGLE:            ", "LDH   <RS> 4.10 ukat/L "])}<ETX>`,
  },
  {
    name: "no-value",
    wire: `<STX>${lines([...spotchemHead, ...spotchemMulti.slice(0, 2), "Cre    ERROR        ", "Ca     -----        "])}<ETX>`,
  },
  {
    // The 1 of 16.4 is missing. The line is too short, so no result of the text is read.
    name: "lost-character",
    wire: `<STX>${lines([...spotchemHead, ...spotchemMulti]).replace(" 16.4", " 6.4")}<ETX>`,
  },
  { name: "cut", wire: `<STX>${lines([...spotchemHead, ...spotchemMulti.slice(0, 4)])}` },
];

const elHead = "26/11/21 11:30 ID# 4711       [B. Plasma] ";

const spotchemEl: readonly TextCase[] = [
  { name: "plasma", wire: `<STX>${elHead}Na   148 mmol/L K   <US> 3.1 mmol/L Cl   112 mmol/L <ETX>` },
  { name: "no-value", wire: `<STX>${elHead}Na   148 mmol/L K     --- mmol/L Cl  <RS> 131 mmol/L <ETX>` },
  {
    name: "urine",
    wire: "<STX>26/11/21 11:30 ID# 4711       [Urine] Na    81 mmol/L K    24.5 mmol/L Cl    93 mmol/L <ETX>",
  },
  { name: "lost-character", wire: `<STX>${elHead}Na   148 mmol/L K    3. mmol/L Cl   112 mmol/L <ETX>` },
  { name: "cut", wire: `<STX>${elHead}Na   148 mm` },
];

const h100Head = ["2026-11-21 11:30", "No. 0070", "ID:4711"];
const h100Pads = [
  "UBG  Normal  3.2umol/L",
  "BIL  -",
  "KET  +-  0.5mmol/L",
  "*BLD  2+  80Ery/uL",
  "PRO  *1+  0.3g/L",
  "NIT  -",
  "*LEU  3+  >=500Leu/uL",
  "GLU  -",
  "SG   1.025",
  "pH   6.5",
  "VC   -",
];

const h100: readonly TextCase[] = [
  { name: "strip", wire: `<STX>${lines([...h100Head, ...h100Pads], "<CR><LF>")}<ETX>` },
  { name: "without-date", wire: `<STX>${lines([...h100Head.slice(1), ...h100Pads.slice(0, 4)], "<CR><LF>")}<ETX>` },
  {
    name: "without-id",
    wire: `<STX>${lines(["2026-11-21 11:31", "No. 0071", "ID:", "Color: Yellow", ...h100Pads.slice(4)], "<CR><LF>")}<ETX>`,
  },
  { name: "unknown-line", wire: `<STX>${lines([...h100Head, ...h100Pads.slice(0, 2), "KE?  1+"], "<CR><LF>")}<ETX>` },
  { name: "cut", wire: `<STX>${lines([...h100Head, ...h100Pads.slice(0, 3)], "<CR><LF>")}` },
];

const abl9Head = "H|\\^&|||ABL9^I393-092R0123N0001||||||||1|20261121113200";
const abl9 = [
  abl9Head,
  "P|1||4711||^Zeytin",
  "O|1||Sample #^41||||20261121113000",
  "R|1|^^^pCO2^M|41.2|mmHg||N||F",
  "R|2|^^^pO2^M|88|mmHg||L||F",
  "R|3|^^^Na+^M|148|mmol/L||H||F",
  "R|4|^^^pH^M|7.31||L||F",
  "R|5|^^^HCO3-^C|21.4|mmol/L||N||F",
  "R|6|^^^Ca++^M||mmol/L||||X",
  "C|1|I|1009^Value below reportable range|I",
  "R|7|^^^T^I|38.1|Cel|||F",
  "L|1|N",
];
const abl9Message = (records: readonly string[]) => `<SOH>${lines(records, "<CR>")}<EOT>`;

const radiometer: readonly TextCase[] = [
  { name: "blood-gas", wire: abl9Message(abl9) },
  { name: "query", wire: abl9Message([abl9Head, "Q|1|PID4711^ACN20261121||||||||||D", "L|1|N"]) },
  { name: "sent-again", wire: abl9Message(abl9) + abl9Message(abl9) },
  { name: "wrong-sender", wire: abl9Message(abl9).replace("ABL9^", "ABL80^") },
  { name: "cut", wire: `<SOH>${lines(abl9.slice(0, 6), "<CR>")}` },
  { name: "noise", wire: `<ACK>~~${abl9Message(abl9)}` },
];

const mythicHeader = "MYTHIC 22;ADMIN";
const mythicHead = [
  "DATE;21/11/2026",
  "TIME;11:32:05",
  "MODE;NORMAL",
  "UNIT;1",
  "SEQ;118;1",
  "SID;S-20261",
  "PID;4711",
];
/** Bytes of `Yılmaz^Şeker` in UTF-8. */
const mythicPatient = [
  "ID;Y\xc4\xb1lmaz^\xc5\x9eeker",
  "TYPE;DOG",
  "TEST;DIF",
  "BIRTH;04/05/2019",
  "SEX;2",
  "OPERATOR;VT1",
];
const mythicRows = [
  "WBC;18.4 ;*;H;5.0  ;6.0  ;17.0 ;26.0 ",
  "RBC;6.81 ;;;5.00 ;5.50 ;8.50 ;9.00 ",
  "HGB;15.9;;;11.0;12.0;18.0;19.0",
  "HCT;47.2 ;;;35.0 ;37.0 ;55.0 ;60.0 ",
  "PLT;188  ;B;L;150  ;200  ;500  ;900  ",
  "LYM%;21.3 ;;;10.0 ;12.0 ;30.0 ;35.0 ",
  "NEU;14.1 ;;H;2.5  ;3.0  ;11.5 ;15.0 ",
  "PDW;15.2 ;;;10.0 ;10.0 ;18.0 ;18.0 ",
];
const mythicEnd = [
  "WBC CURVE;0;0;1;4;9",
  "WBC THRESHOLDS;32;49;0;",
  "ALARMS;L1;N2;",
  "INTERPRETIVE_WBC;",
  "LMNE MATRIX;Z5;82",
];
/** Encodes a frame with its check number. */
const mythicFrame = (texts: readonly string[], end = "END_RESULT", change = 0) => {
  const frame = lines([mythicHeader, ...texts], "<CR>");
  return `${frame}${end};${crc16Of(bytes(frame)) ^ change}<CR>`;
};
const mythicRun = ["RESULT", ...mythicHead, ...mythicPatient, ...mythicRows, ...mythicEnd];
const mythicNobody = mythicRun.filter((line) => !line.startsWith("ID;"));
const changed = (from: string, to: string) => mythicRun.map((line) => (line === from ? to : line));

const mythic: readonly TextCase[] = [
  {
    name: "dog",
    wire: `CONNECT;301-000118;9<CR>${mythicHeader}<CR>RESULT_READY;612<CR>${mythicFrame(mythicRun)}DISCONNECT;301-000118<CR>`,
  },
  {
    name: "no-values",
    wire: mythicFrame([
      ...["RESULT", ...mythicHead, "TYPE;CAT", "TEST;CBC"],
      ...["WBC;+++++;;D;4.0;5.5;19.5;25.0", "RBC;-----;*;;4.5;5.0;10.0;11.0", "HGB;.....;;;;;;"],
      ...["MID;0.9;;;0.1;0.2;1.2;1.5", "IMM;0.4;;;0.0;0.0;1.0;1.0", "COMMENT;lipemic"],
    ]),
  },
  {
    name: "not-for-patients",
    wire: [
      mythicFrame([...changed("MODE;NORMAL", "MODE;QC"), "LOT;K-88", "LEVEL;H"]),
      mythicFrame(changed("MODE;NORMAL", "MODE;REPEATABILITY")),
      mythicFrame(changed("SID;S-20261", "SID;QC NORMAL")),
      mythicFrame(
        ["CALIBRATION;1;21/11/2026;07:30:00;K-77;01/05/2027;20/11/2026;07:28:00;1;1.0", "WBC;9.8;0.5"],
        "END_CALI",
      ),
      `${mythicHeader}<CR>STARTUP;21/11/2026;07:12:40;PASSED;0.1;0.0<CR>`,
    ].join(""),
  },
  { name: "unit-system-2", wire: mythicFrame(changed("UNIT;1", "UNIT;2")) },
  { name: "sent-again", wire: mythicFrame(mythicNobody, "END_RESULT", 1) + mythicFrame(mythicNobody) },
  { name: "cut", wire: `${mythicHeader}<CR>${lines(mythicNobody.slice(0, 16), "<CR>")}` },
  { name: "noise", wire: `<ENQ>~~<CR>${mythicFrame(mythicRun)}hum<CR>END_RESULT;1<CR>` },
];

const pu4010Head = "VPU-4010  V1.20 B0001 D2026/11/21T11:51 N0012 P4711 S1";
/** Name 6, mark 1, word 6, amount 6, unit 6 characters. */
const pu4010Items = [
  "GLU    -                 ",
  "PRO   *3+    300   mg/dL ",
  "BIL    -                 ",
  "URO    NORMAL            ",
  "PH           6.5         ",
  "S.G.         1.025       ",
  "BLD   *1+    0.06  mg/dL ",
  "NIT    -                 ",
  "LEU    +-    25    Leu/uL",
];
const pu4010Text = (items: readonly string[], last = "T0001  COM.") =>
  `<STX>${pu4010Head}<ETB><STX>${items.join("")}<ETB><STX>${last}<ETX>`;

const pu4010: readonly TextCase[] = [
  { name: "strip", wire: pu4010Text(pu4010Items) },
  { name: "comment", wire: pu4010Text(pu4010Items.slice(0, 3), "T0001  COM. cloudy") },
  { name: "lost-character", wire: pu4010Text(pu4010Items).replace("*3+", "*3") },
  { name: "cut", wire: pu4010Text(pu4010Items).slice(0, 120) },
];

export const textFixtures: Readonly<Record<string, readonly TextCase[]>> = {
  "arkray-spotchem-ez": spotchemEz,
  "arkray-spotchem-el": spotchemEl,
  "arkray-pu4010": pu4010,
  "dirui-h100": h100,
  mythic,
  "radiometer-abl9": radiometer,
};
