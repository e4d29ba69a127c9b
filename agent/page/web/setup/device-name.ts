import type { ProfileName } from "../../types/setup.ts";
import { translations } from "../../../../server/web/text.ts";

const t = translations({
  dicom: ["Imaging device (DICOM)", "Görüntüleme cihazı (DICOM)"],
  "generic-astm": ["Any analyzer with ASTM", "ASTM kullanan her cihaz"],
  "generic-astm-raw": ["Any analyzer with ASTM without frames", "Çerçevesiz ASTM kullanan her cihaz"],
  "generic-hl7": ["Any analyzer with HL7", "HL7 kullanan her cihaz"],
  "generic-poct1a": ["Any analyzer with POCT1-A", "POCT1-A kullanan her cihaz"],
  "practice-system": ["Practice software (HL7)", "Klinik yazılımı (HL7)"],
});

type Translated = Parameters<typeof t>[0];

const TRANSLATED: readonly string[] = [
  ...["dicom", "generic-astm", "generic-astm-raw", "generic-hl7", "generic-poct1a", "practice-system"],
];

/** Returns the name of a profile's device: a maker's as it is, one that the project made in the page's language. */
export function deviceName({ profile, name }: ProfileName): string {
  return TRANSLATED.includes(profile) ? t(profile as Translated) : name;
}
