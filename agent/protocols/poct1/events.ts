import type { FoundEvent } from "../../report/device-event.ts";
import type { Hello } from "./message.ts";
import { all, attribute, type Element, textOf } from "./xml/xml.ts";

// Reports of a device on itself beside its observations: reagents (RGT) and calibrations (SVC.role_cd CAL). Events of the topic EVS
// come without a message, see report/device-report.ts.

export function eventsOf(root: Element, { model }: Hello): FoundEvent[] {
  return all(root, "SVC").flatMap((service) => {
    const at = textOf(service, "SVC.observation_dttm");
    const reagents = all(service, "RGT").map(
      (reagent): FoundEvent => ({
        ...{ event: "reagent", at, subject: textOf(reagent, "RGT.name"), lot: textOf(reagent, "RGT.lot_number") },
        expires: textOf(reagent, "RGT.expiration_date"),
      }),
    );
    const [control] = all(service, "CTC");
    const calibration: FoundEvent = {
      ...{ event: "calibration", at, subject: textOf(control ?? null, "CTC.name") || model },
      ...{ lot: textOf(control ?? null, "CTC.lot_number"), expires: textOf(control ?? null, "CTC.expiration_date") },
    };
    const isCalibration = /^CAL$/i.test(textOf(service, "SVC.role_cd"));
    return [...reagents.filter(({ lot }) => lot !== ""), ...(isCalibration ? [calibration] : [])];
  });
}

/** Returns the patient's texts: every value within every PT but those of its results. */
export function peopleOf(root: Element): string[] {
  const texts = (element: Element): string[] =>
    element.name === "OBS" ? [] : [attribute(element, "V"), element.text, ...element.children.flatMap(texts)];
  return all(root, "PT").flatMap(texts);
}
