import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DateTime } from "luxon";
import { describe, expect, test, vi } from "vitest";
import { analytes } from "../../shared/clinical/analytes/analytes.ts";
import { ageText } from "../../server/dashboard/report/age.ts";
import { controlChart } from "../../server/dashboard/report/control-chart.ts";
import { attachment, reportFileName } from "../../server/dashboard/report/file-name.ts";
import { renderPdf } from "../../server/dashboard/report/pdf.ts";
import { studyReport } from "../../server/dashboard/report/study-report.ts";
import { commentText } from "../../server/dashboard/types/results/sample-indices.ts";
import type { StudyPage, StudyRow } from "../../server/dashboard/types/results/results.ts";
import type { ReportContext } from "../../server/dashboard/types/results/report.ts";
import { temporaryFolder } from "../support/machine/processes.ts";

/** One red pixel. */
const tinyPng = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

const context: ReportContext = {
  ...({ language: "tr", zone: "Europe/Istanbul", clinicName: "Patiler Kliniği" } as const),
  address: "Örnek Cad. 1, Kadıköy",
  phone: "0216 000 00 00",
  logo: `data:image/png;base64,${tinyPng.toString("base64")}`,
  owner: { name: "Elif Örnek", phone: "0555 000 11 22" },
  now: Date.parse("2026-11-28T07:20:00.000Z"),
};

const before = (unit: string) => ({
  ...{ fp: "cds_0", device_name: "VetScan VS2", acquired_at: "2026-10-02T06:20:00.000Z", value: "13.1", unit },
  ...{ sent: { value: "13.1", unit, reference_range: null }, number: 13.1, change: null },
});
const row = (code: string, more: Partial<StudyRow> = {}): StudyRow => {
  const known = analytes.find((analyte) => analyte.code === code);
  return {
    ...{ analyte: code, name: known?.name ?? null, name_tr: known?.name_tr ?? null, value: "14.2", printed: null },
    ...{ number: 14.2, unit: "U/L", reference_range: "5.5-16.9", low: 5.5, high: 16.9, flag: "normal", side: null },
    ...{ device_range: null, device_species: null, device_flag: null, reason: null, comment: null },
    ...{ code_source: null, device_code: null, measured_at: null },
    sent: { value: "14.2", unit: "U/L", reference_range: "5.5-16.9" },
    source: { kind: "clinic", id: "1", title: null, text: null },
    before: before("U/L"),
    why: [{ code: "CLINIC.ROW", values: [] }],
    ...more,
  };
};
const panel = [
  row("PLT", { value: "1", number: 1, flag: "critical", side: "low" }),
  row("WBC", { unit: "×10⁹/L" }),
  row("CREA", { unit: "µmol/L", before: before("µmol/L") }),
  row("GLU", { value: "18", number: 18, flag: "high", side: "high", comment: "the device marks the value with *" }),
  ...analytes.slice(10, 36).map(({ code }) => row(code)),
];
const study = {
  ...{ fp: "cds_01M7Z5XWFP307N2DJXZ2RS60JG", modality: "BIOCHEMISTRY", device_name: "VetScan VS2", rows: panel },
  patient: {
    fp: "patient_1",
    name: "Karabaş / Şeker",
    species: "dog",
    breed: "Kangal",
    sex: "male_neutered",
    date_of_birth: "2019-04-12",
  },
  ...{
    hint: null,
    flagged_for: null,
    quality: null,
    sample_ids: ["S-809"],
    order: null,
    remark: { text: "Bol su verin.", by: "Dr. Ada Hekim", at: "2026-11-28T07:00:00.000Z" },
    revision: 2,
    comments: ["HEM: 2+"],
    not_reported: [
      { analyte: "TBIL", code: "no_value", text: "HEM" },
      { analyte: "K", code: "not_final", text: "4.1" },
    ],
  },
  ...{
    acquired_at: "2026-11-28T06:20:00.000Z",
    received_at: "2026-11-28T06:21:00.000Z",
    notes: ["HCT has no value: ---"],
  },
} as unknown as StudyPage;

const poppler = existsSync("/usr/bin/pdftotext") && existsSync("/usr/bin/pdftoppm");
describe.skipIf(!poppler)(
  `the owner's report${poppler ? "" : " (skipped: pdftotext and pdftoppm are missing)"}`,
  () => {
    test("is one page for a panel of 30 values, in Turkish alone, with owner and age and without internal notes", async () => {
      const file = join(temporaryFolder(), "report.pdf");
      writeFileSync(file, await renderPdf(studyReport(study, context)));
      const text = execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" });
      for (const part of [
        "Patiler Kliniği",
        "Örnek Cad. 1, Kadıköy · 0216 000 00 00",
        "Veteriner hekiminizden",
        "Bol su verin.",
        "Dr. Ada Hekim",
        "Elif Örnek",
        "0555 000 11 22",
        "7 yıl 7 ay",
        "S-809",
        "Sürüm 2",
        "hemoliz 2+",
        "TBIL: bildirilmedi: hemoliz",
        "Neden bu aralıklar",
        "kliniğin kendi aralığı, numune gününde geçerli",
        "K: kesin değer yok",
        "GLU: cihaz değeri * ile işaretliyor.",
      ]) {
        expect(text).toContain(part);
      }
      expect(text).toContain("Köpek, Kangal, erkek, kısırlaştırılmış");
      expect(text).toMatch(/PLT Trombosit\s+1 U\/L\s+kritik düşük\s+5\.5-16\.9/);
      expect(text).toMatch(/GLU Glukoz\s+18 U\/L \?\s+yüksek\s+5\.5-16\.9 \[1\]\s+13\.1 \(02\.10\.26\)/);
      // In another unit than the value it names its own.
      expect(text).toMatch(/WBC Lökosit\s+14\.2 ×10⁹\/L.*13\.1 U\/L/);
      expect(text).toMatch(/CREA Kreatinin\s+14\.2 µmol\/L.*13\.1 \(/);
      expect(text).toMatch(/Aralık\s+Önceki/);
      expect(text).toMatch(/Sayfa 1\/1/);
      expect(text).toContain("Halka: önceki sonuç.");
      for (const part of ["has no value", "the device", "Owner", "Interval", "Mean", "cells"])
        expect(text).not.toContain(part);
    });

    test("has the letters of a name whose accents are characters of their own", async () => {
      const file = join(temporaryFolder(), "report.pdf");
      const patient = { ...study.patient!, name: "Şeker Çığ".normalize("NFD") };
      writeFileSync(file, await renderPdf(studyReport({ ...study, patient }, context)));
      expect(execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" })).toContain("Şeker Çığ");
    });

    test("names a previous value of another name of the substance, and leaves out one that does not compare", async () => {
      const change = { absolute: 1, percent: 8, direction: "up", rcv: null } as const;
      const rows = [
        row("BUN", { before: { ...before("mg/dL"), analyte: "UREA", change }, unit: "mg/dL" }),
        row("ALT", { before: { ...before("U/L"), value: "77.7", change: { code: "device" } } }),
      ];
      const file = join(temporaryFolder(), "report.pdf");
      writeFileSync(file, await renderPdf(studyReport({ ...study, rows }, context)));
      const text = execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" }).replaceAll(/\s+/g, " ");
      expect(text).toMatch(/UREA 13\.1 mg\/ ?dL/);
      expect(text).not.toContain("77.7");
      // A column without a value has no heading either.
      writeFileSync(file, await renderPdf(studyReport({ ...study, rows: rows.slice(1) }, context)));
      expect(execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" })).not.toContain("Önceki");
    });

    test("has each word of a remark of many lines and of a value higher than a page", async () => {
      const file = join(temporaryFolder(), "report.pdf");
      const remark = { ...study.remark!, text: `${"a\n".repeat(295)}lastline` };
      const rows = [row("PLT", { value: `${"word ".repeat(790)}lastword`, number: null })];
      writeFileSync(file, await renderPdf(studyReport({ ...study, remark, rows }, context)));
      const text = execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" });
      for (const part of ["lastline", "Dr. Ada Hekim", "lastword"]) expect(text).toContain(part);
    });

    test("draws the critical value in red at the low end of its bar", async () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, "report.pdf"), await renderPdf(studyReport(study, context)));
      execFileSync("pdftoppm", ["-r", "50", join(folder, "report.pdf"), join(folder, "page")]);
      const pixels = readFileSync(join(folder, "page-1.ppm")).subarray(-3 * 413 * 585);
      const reds = [...Array(413 * 585).keys()].filter((at) => pixels[3 * at]! > 150 && pixels[3 * at + 1]! < 90);
      expect(reds.length).toBeGreaterThan(5);
      // The flag is filled, and the mark of the bar stands right of it.
      const columns = reds.map((at) => at % 413);
      expect(columns.filter((column) => column > 190 && column < 230).length).toBeGreaterThan(40);
      expect(columns.filter((column) => column > 237 && column < 260).length).toBeGreaterThan(4);
    });
  },
);

test("a time of day has blanks that the font of the report has", () => {
  // Some builds of Node print a narrow blank before AM.
  const times = vi.spyOn(DateTime.prototype, "toLocaleString").mockReturnValue("9:20\u202fAM");
  const text = JSON.stringify(studyReport(study, { ...context, language: "en" }).content);
  times.mockRestore();
  expect(text).toContain("Measured: 9:20\u00a0AM");
});

test("a file is named by animal, day and kind, without characters of a path", () => {
  const name = reportFileName(study, context);
  expect(name).toBe("Karabaş Şeker 2026-11-28 Biyokimya.pdf");
  expect(attachment(name)).toBe(
    `attachment; filename="Karabas Seker 2026-11-28 Biyokimya.pdf"; filename*=UTF-8''Karaba%C5%9F%20%C5%9Eeker%202026-11-28%20Biyokimya.pdf`,
  );
  // A Mac writes a letter and its mark as two characters.
  const patient = { ...study.patient!, name: "Şeker मोती".normalize("NFD") };
  expect(reportFileName({ ...study, patient }, context)).toBe("Şeker मोती 2026-11-28 Biyokimya.pdf");
  expect(attachment("cds_1.csv")).toBe('attachment; filename="cds_1.csv"');
});

test.each([
  ["2019-04-12", "7 yıl 7 ay"],
  ["2026-06-27", "5 ay"],
  ["2026-10-31", "4 hafta"],
  ["2026-11-27", "1 gün"],
  ["2026-12-27", ""],
])("the age of an animal born on %s is %s at the sample", (born, age) => {
  expect(ageText(born, study.acquired_at, context)).toBe(age);
});

test.each([
  ["HEM:   0 LIP:  12 ICT:   1", "hemoliz 0, lipemi 12, ikter 1"],
  ["HEM: 2+ sample repeated", "HEM: 2+ sample repeated"],
  ["INST QC: OK    CHEM QC: OK", "INST QC: OK    CHEM QC: OK"],
])("the comment %s is shown as %s", (comment, shown) => {
  expect(commentText(comment, "tr")).toBe(shown);
});

test("the chart of a month of controls has a date below each week", () => {
  const [from, to] = [Date.parse("2026-10-31T21:00Z"), Date.parse("2026-11-30T21:00Z")];
  const chart = controlChart([], { mean: 5, sd: 0.1 }, { from, to, zone: "Europe/Istanbul", language: "tr" });
  const texts = JSON.stringify(chart).matchAll(/"text":"(\d+ [^"]+)"/g);
  expect(Array.from(texts, ([, text]) => text)).toEqual(["1 Kas", "8 Kas", "15 Kas", "22 Kas", "29 Kas"]);
});
