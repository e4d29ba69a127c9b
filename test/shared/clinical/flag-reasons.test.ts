import { expect, test } from "vitest";
import { flagReasonText } from "../../../shared/clinical/flag-reasons.ts";

test("a reason has words in both languages, with its values", () => {
  const reason = { code: "INTERVAL.NONE", values: ["HCT", "reptile", "900"] };
  expect(flagReasonText(reason, "en")).toBe("no interval of HCT for reptile of 900 days");
  expect(flagReasonText(reason, "tr")).toBe("HCT için bu hayvana uyan referans aralığı yok (reptile, 900 gün)");
  const ageless = { code: "INTERVAL.NONE", values: ["WBC", "Akita dog", ""] };
  expect(flagReasonText(ageless, "en")).toBe("no interval of WBC for Akita dog of unknown age");
});

test("each remark of a breed has words in both languages", () => {
  for (const remark of ["large_platelets", "leaking_potassium", "small_red_cells", "other_thyroid_values"]) {
    const words = (["en", "tr"] as const).map((language) =>
      flagReasonText({ code: "BREED.REMARK", values: [remark] }, language),
    );
    expect(words).not.toContain(remark);
  }
});

test("a code of another version is shown as it is", () => {
  expect(flagReasonText({ code: "NEW.CODE", values: ["a", "b"] }, "tr")).toBe("NEW.CODE a b");
});
