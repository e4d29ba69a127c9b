import { expect, test } from "vitest";
import { rangeFaultText } from "../../server/dashboard/types/range-faults.ts";
import { readRanges } from "../../server/import/clinic-ranges.ts";

// Faults of a clinic's own intervals on a Turkish page.

const row = { id: "alt-dog", analyte: "ALT", species: "dog", unit: "U/L", low: "10", high: "90" };
const fine = { ...row, effective_from: "2026-01-01" };

test.each([
  [[{ ...fine, low: "95" }], "1. satır: alt-dog: alt sınır 95, üst sınır olan 90 değerinden küçük değil"],
  [[{ ...fine, critical_low: "20" }], "1. satır: alt-dog: alt kritik sınır 20, alt sınır olan 10 değerinden büyük"],
  [[{ ...fine, critical_high: "80" }], "1. satır: alt-dog: üst kritik sınır 80, üst sınır olan 90 değerinden küçük"],
  [[{ ...fine, age_min_days: 9, age_max_days: 8 }], "1. satır: alt-dog: bitiş yaşı başlangıç yaşından küçük"],
  [[fine, { ...fine, id: "b" }], "2. satır: b: hayvanları ve başlangıç günü 1. satırınkilerle aynı"],
  [[fine, { ...fine, species: "cat" }], "2. satır: alt-dog kimliği 1. satırda da var"],
  [[{ ...fine, unit: "kg" }], "1. satır: alt-dog: birim kg, ALT için bir birim bekleniyordu"],
  [[{ ...fine, analyte: "XYZ" }], "1. satır: alt-dog: XYZ katalogda yok"],
  [[{ ...fine, effective_from: "2026-02-30" }], "1. satır: alt-dog: 2026-02-30 diye bir gün yok"],
  [[row], "1. satır: effective_from eksik"],
])("%j", (rows, turkish) => {
  const read = readRanges(rows.map((each) => JSON.stringify(each)).join("\n"));
  const [problem = ""] = "problems" in read ? read.problems : [];
  expect(rangeFaultText(problem, "tr")).toBe(turkish);
});
