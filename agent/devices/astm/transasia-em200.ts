import type { AstmProfile } from "../../protocols/astm/profile.ts";

/**
 * Transasia (Erba) EM-200 and XL, chemistry, ASTM with the delimiters |`^&. One message has one test, and the animal's name is
 * typed as the sample. Source: a capture of two EM-200 messages. Test names are the laboratory's own (ALTT, CHOO): names that the
 * catalogue lacks belong in the clinic's `codes`. Unverified: controls and queries.
 */
export const transasiaEm200: AstmProfile = {
  id: "transasia-em200",
  protocol: "astm",
  link: { kind: "lis01" },
  device_name: "Transasia EM-200",
  modality: "BIOCHEMISTRY",
  marks: /H\|`\^&|\bTransasia|\bErba\b/i,
  sender: /^\W*$|EM-?\s?\d|XL|Erba|Transasia/i, // H-5 is empty on the EM-200
  nameOnSample: (o) => (/\p{L}.*\p{L}/u.test(o.component(3, 1)) ? o.component(3, 1) : ""),
  collect: { hours: 2, sample: /\p{L}|\d{4}/u }, // O-3 has rack and position too, so one name is one tube
};
