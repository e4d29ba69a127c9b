import { accessChecks, changingAccessChecks } from "./access.ts";
import { calendarChecks } from "./calendar.ts";
import { contractChecks } from "./contract.ts";
import { inventoryChecks } from "./inventory.ts";
import { limitChecks } from "./limits.ts";
import { changingMedicalChecks, medicalChecks } from "./medical.ts";
import { changingPatientChecks, patientChecks } from "./patients.ts";
import { practiceChecks, practiceLimitChecks } from "./practice.ts";
import { protocolChecks } from "./protocol.ts";
import type { ApiCheck } from "./read.ts";
import { changingSyncChecks, syncChecks } from "./sync.ts";

interface CheckGroup {
  /** The file of the checks in this folder. */
  readonly file: string;
  readonly checks: readonly ApiCheck[];
}

/**
 * All checks, in the order of a run. Checks that change data follow those that only read it. The limits spend their keys,
 * and the contract looks at the responses to all other checks.
 */
export const checkGroups: readonly CheckGroup[] = [
  { file: "protocol.ts", checks: protocolChecks },
  { file: "patients.ts", checks: patientChecks },
  { file: "medical.ts", checks: medicalChecks },
  { file: "calendar.ts", checks: calendarChecks },
  { file: "inventory.ts", checks: inventoryChecks },
  { file: "sync.ts", checks: syncChecks },
  { file: "access.ts", checks: accessChecks },
  { file: "patients.ts", checks: changingPatientChecks },
  { file: "medical.ts", checks: changingMedicalChecks },
  { file: "sync.ts", checks: changingSyncChecks },
  { file: "practice.ts", checks: practiceChecks },
  { file: "access.ts", checks: changingAccessChecks },
  { file: "limits.ts", checks: limitChecks },
  { file: "practice.ts", checks: practiceLimitChecks },
  { file: "contract.ts", checks: contractChecks },
];
