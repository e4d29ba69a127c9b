import { useEffect, useRef, useState } from "preact/hooks";
import type { ListedPatient, PatientList } from "../../../dashboard/types/patients.ts";
import { useResource } from "../../resource.tsx";

const TYPING_MS = 200;

/**
 * Searches the clinic's patients a moment after the last letter. An empty text finds all, unless `needsText`. The last matches remain
 * while newer ones are loaded; a list that changes under the pointer would choose another animal, so that `isOlder` says so.
 */
export function usePatientSearch(typed: string, needsText = false) {
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const path = needsText && asked === "" ? null : `/patients?search=${encodeURIComponent(asked)}`;
  const { data, error, reload } = useResource<PatientList>(path);
  const last = useRef<readonly ListedPatient[]>([]);
  if (data !== undefined) last.current = data.patients;
  return { data, error, reload, patients: last.current, isOlder: data === undefined || typed !== asked };
}
