import { type KeyArea, keyAreas } from "../../dashboard/types/settings/keys.ts";
import type { Permission } from "./api-keys.ts";

// The words of the command line and of the API document for what each permission opens.

const areaWords: Readonly<Record<KeyArea, string>> = {
  patients: "patients",
  results: "results",
  records: "SOAP records",
  calendar: "appointments",
  stock: "items of the inventory",
  trails: "the way of each result to its readers",
  sending:
    "sending results, and what an agent reads for it: numbers of patients, intervals, codes, its devices and releases",
  entering: "sending patients and their owners, orders and appointments from practice software",
};

/** Returns what a permission opens: `patients, results, SOAP records`, or `results alone`. */
export function permissionWords(permission: Permission): string {
  const areas = keyAreas[permission];
  const words = areas.map((area) => areaWords[area]).join(", ");
  return areas.length === 1 && !words.startsWith("sending") ? `${words} alone` : words;
}
