import { expect, test } from "vitest";
import { shortCode } from "../../../../../agent/protocols/dicom/reports/measurement-codes.ts";
import { readMeasurements } from "../../../../../agent/protocols/dicom/reports/structured-report.ts";

// Method: a parsed report of a cardiac ultrasound device by TID 5200. Its sections have a finding site, their measurement groups
// an image mode, and their measurements modifiers.

type Element = Readonly<Record<string, unknown>>;

const coded = (text: string, meaning: string): Element => {
  const [scheme, value] = text.split(" ");
  return { "00080100": { Value: [value] }, "00080102": { Value: [scheme] }, "00080104": { Value: [meaning] } };
};
const item = (relationship: string, type: string, name: Element, more: Element = {}, content: Element[] = []) => ({
  "0040A010": { Value: [relationship] },
  "0040A040": { Value: [type] },
  "0040A043": { Value: [name] },
  "0040A730": { Value: content },
  ...more,
});
const container = (name: Element, ...content: Element[]) => item("CONTAINS", "CONTAINER", name, {}, content);
const modifier = (name: Element, value: Element) =>
  item("HAS CONCEPT MOD", "CODE", name, { "0040A168": { Value: [value] } });
const measured = (name: Element, value: string, unit: string, ...content: Element[]) =>
  item(
    "CONTAINS",
    "NUM",
    name,
    {
      "0040A300": { Value: [{ "0040A30A": { Value: [value] }, "004008EA": { Value: [coded(`UCUM ${unit}`, unit)] } }] },
    },
    content,
  );

const SITE = coded("SRT G-C0E3", "Finding Site");
const MODE = coded("SRT G-0373", "Image Mode");
const FINDINGS = coded("DCM 121070", "Findings");
const GROUP = coded("DCM 125007", "Measurement Group");
const section = (code: string, meaning: string, ...content: Element[]) =>
  container(FINDINGS, modifier(SITE, coded(code, meaning)), ...content);

/** Reads short code, value and modifier meanings of each measurement. */
const read = (...content: Element[]) =>
  readMeasurements(container(coded("DCM 125200", "Adult Echocardiography Procedure Report"), ...content)).map(
    ({ concept, modifiers, value, unit }) => [
      shortCode(concept, modifiers),
      `${value} ${unit}`,
      modifiers.map((one) => one.value.meaning).join(", "),
    ],
  );

test("one concept at several sites gives a code per site", () => {
  const peak = (value: string, ...content: Element[]) =>
    measured(coded("LN 11726-7", "Peak Velocity"), value, "m/s", ...content);
  const back = modifier(coded("SRT G-C048", "Flow Direction"), coded("SRT R-42E61", "Retrograde Flow"));
  expect(
    read(
      section("SRT T-35400", "Aortic Valve", container(GROUP, peak("1.2"))),
      section("SRT T-35200", "Pulmonic Valve", container(GROUP, peak("0.9"))),
      section("SRT T-35300", "Mitral Valve", container(GROUP, peak("5.1", back), peak("0.8"))),
    ),
  ).toEqual([
    ["AV Vmax", "1.2 m/s", "Aortic Valve"],
    ["PV Vmax", "0.9 m/s", "Pulmonic Valve"],
    ["MR Vmax", "5.1 m/s", "Mitral Valve, Retrograde Flow"],
    ["MV Vmax", "0.8 m/s", "Mitral Valve"],
  ]);
});

test("image modes of one concept share its code, and differ in meaning", () => {
  const mode = (code: string, meaning: string) => modifier(MODE, coded(code, meaning));
  const dimension = (value: string) =>
    measured(coded("LN 29436-3", "Left Ventricle Internal End Diastolic Dimension"), value, "cm");
  expect(
    read(
      section(
        ...(["SRT T-32600", "Left Ventricle"] as const),
        container(GROUP, mode("SRT G-03A2", "2D mode"), dimension("3.85")),
        container(GROUP, mode("SRT G-0394", "M mode"), dimension("3.91")),
      ),
    ),
  ).toEqual([
    ["LVIDd", "3.85 cm", "Left Ventricle, 2D mode"],
    ["LVIDd", "3.91 cm", "Left Ventricle, M mode"],
  ]);
});

test("a measurement's own site replaces that of its section", () => {
  const wave = (value: string, site: string, meaning: string) =>
    measured(
      coded("SRT G-037A", "Left Ventricular Peak Early Diastolic Tissue Velocity"),
      value,
      "cm/s",
      modifier(SITE, coded(site, meaning)),
    );
  expect(
    read(
      section(
        ...(["SRT T-32600", "Left Ventricle"] as const),
        wave("8", "SRT G-0391", "Medial Mitral Annulus"),
        wave("11", "SRT G-0392", "Lateral Mitral Annulus"),
      ),
    ),
  ).toEqual([
    ["sept E'", "8 cm/s", "Medial Mitral Annulus"],
    ["lat E'", "11 cm/s", "Lateral Mitral Annulus"],
  ]);
});

test("measurements of two fetuses have two codes", () => {
  const fetus = (id: string, value: string) =>
    container(
      coded("DCM 125002", "Fetal Biometry"),
      item("HAS OBS CONTEXT", "TEXT", coded("LN 11951-1", "Fetus ID"), { "0040A160": { Value: [id] } }),
      item("HAS OBS CONTEXT", "TEXT", coded("DCM 121030", "Subject ID"), { "0040A160": { Value: ["secret"] } }),
      container(
        coded("DCM 125005", "Biometry Group"),
        measured(coded("LN 11820-8", "Biparietal Diameter"), value, "mm"),
      ),
    );
  expect(read(fetus("1", "24.1"), fetus("2", "23.8"))).toEqual([
    ["BPD 1", "24.1 mm", "fetus 1"],
    ["BPD 2", "23.8 mm", "fetus 2"],
  ]);
});

test("a measurement without concept, value or unit is kept", () => {
  const bare = { "0040A010": { Value: ["CONTAINS"] }, "0040A040": { Value: ["NUM"] } };
  expect(readMeasurements(container(FINDINGS, bare))).toEqual([
    { concept: { value: "", scheme: "", meaning: "" }, modifiers: [], value: "", unit: null },
  ]);
});
