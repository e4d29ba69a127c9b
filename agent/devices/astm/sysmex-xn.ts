import type { AstmProfile } from "../../protocols/astm/profile.ts";

/**
 * Sysmex XN, hematology, ASTM. Source: a log of an XN-530 run (45 rows). Unverified: reruns and repeats with a value, controls,
 * and the reply to a query. Sysmex XP and XS speak the same records without suspicions: generic-astm.
 */
export const sysmexXn: AstmProfile = {
  id: "sysmex-xn",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: null, // H-5 is the model
  modality: "HEMATOLOGY",
  sender: /^\s*XN-/i,
  orders: {},
  statuses: { I: "final", P: "final" }, // repeated and rerun measurements, with a value
  doubtFlags: {
    A: "the device reports an error of the analysis (R-7 is A)",
    W: "the device holds the value for unreliable (R-7 is W)",
    ">": "the value is outside the device's linear range (R-7 is >)",
  },
  // Suspicions (`Left_Shift?`, 0 to 300), messages without a value (`Lymphopenia`) and file names of pictures.
  isRemark: (r) => {
    const name = r.component(3, 5);
    return name.endsWith("?") || /^(?:SCAT|DIST)_/.test(name) || (r.raw(4).trim() === "" && r.raw(5).trim() === "");
  },
};
