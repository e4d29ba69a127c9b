import type { Poct1Profile } from "../protocols/poct1/profile.ts";

/** Any point-of-care device with POCT1-A. Its dialect follows from the vendor and model in its HELLO. */
export const genericPoct1a: Poct1Profile = {
  id: "generic-poct1a",
  protocol: "poct1a",
  link: { kind: "poct1a" },
  modality: null,
};
