import type { AstmProfile } from "../../protocols/astm/profile.ts";

/**
 * Skyla VB1 and Solution, chemistry, ASTM. Source: a document of the vendor with example records. Unverified: frames, status
 * messages and the IBM 850 charset.
 */
export const skyla: AstmProfile = {
  id: "skyla",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: "Skyla",
  modality: "BIOCHEMISTRY",
  sender: /^Skyla\b/i,
  code: (r) => [r.component(3, 4)],
  species: (p) => p.component(17, 1), // `Canine`, in place of the height
  owner: (p) => p.component(16, 1),
  fields: { processing: 10, sentAt: 12, weight: 19, resultStatus: 11 }, // the header lacks two fields, P and R have additional ones
  charset: "cp850",
};
