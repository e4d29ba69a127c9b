import { analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { fpForm, isFp } from "../../../shared/api/fp.ts";
import { type Config, DICOM } from "../../config/values/schema.ts";
import { readSpool, writeSpool } from "../../spool/access.ts";
import { newAccession } from "../../../shared/runtime/accession.ts";
import { profileById, takesOrders } from "../../devices/index.ts";
import { advice } from "../../runtime/did-you-mean.ts";
import type { TestOrder } from "../../spool/queries/orders/orders.ts";

// Places an order for an analyzer or an imaging device in the spool; the agent replies with it to the device's query.

export interface OrderRequest {
  readonly device: string;
  readonly patient: string;
  /** Comma-separated names, sent to the device as entered. For an imaging device they are procedures. */
  readonly tests: string;
}

/** Max tests of one order, more than any analyzer runs on one sample. */
const TESTS_MAX = 100;

/** Places the order in the data folder; no agent has to run. @throws Error with a line for each problem */
export function placeOrder({ data, devices }: Config, request: OrderRequest): TestOrder {
  const tests = request.tests
    .split(",")
    .map((test) => test.trim())
    .filter(Boolean);
  const problems = [
    deviceProblem(request.device, devices),
    patientProblem(request.patient, data),
    ...testProblems(tests, devices.find(({ id }) => id === request.device)?.profile),
  ];
  const found = problems.filter((problem) => problem !== null);
  if (found.length > 0) throw new Error(found.join("\n"));
  return writeSpool(data, (operations) => {
    for (;;) {
      const order: TestOrder = {
        accession: newAccession("agent"),
        device: request.device,
        patientFp: request.patient,
        tests: [...new Set(tests)],
        createdAt: Date.now(),
        state: "placed",
      };
      if (operations.placeOrder(order)) return order;
    }
  });
}

function deviceProblem(id: string, devices: Config["devices"]): string | null {
  const device = devices.find((known) => known.id === id);
  if (device === undefined)
    return `--device is ${id}, ${advice(
      id,
      devices.map((known) => known.id),
    )}`;
  if (device.profile === DICOM) return null;
  const profile = profileById(device.profile);
  if (!takesOrders(device))
    return `--device is ${id}, whose own profile sends no orders: set orders: true of the device`;
  if (profile !== undefined && "orders" in profile) return null;
  return `--device is ${id}, whose profile ${device.profile} takes no orders`;
}

function patientProblem(fp: string, data: string): string | null {
  if (!isFp("patient", fp)) return `--patient is ${fp}, expected ${fpForm("patient")}`;
  const known = readSpool(data, (db) => db.prepare("SELECT 1 FROM patient WHERE fp = ?").get(fp));
  if (known !== undefined) return null;
  return `--patient is ${fp}, which the agent does not know: it fetches patients every 25 seconds while it runs`;
}

function testProblems(tests: readonly string[], profileId: string | undefined): string[] {
  if (profileId === DICOM) return procedureProblems(tests);
  const profile = profileById(profileId ?? "");
  const own = profile?.protocol === "hl7" || profile?.protocol === "text" ? profile.orders?.tests : undefined;
  const expected = own?.example ?? "analytes such as ALT,CREA";
  if (tests.length === 0) return [`--tests is empty, expected ${expected}`];
  if (tests.length > TESTS_MAX) return [`--tests has ${tests.length} analytes, at most ${TESTS_MAX}`];
  if (own !== undefined) {
    const unknown = tests.filter((test) => !own.pattern.test(test));
    return unknown.map((test) => `--tests has ${test}, which ${profileId} does not know, expected ${expected}`);
  }
  const names = analytes.flatMap(({ code, api_code, synonyms, loinc }) => [code, api_code, ...synonyms, ...loinc]);
  const known = new Set(names.map((name) => name.toLowerCase()));
  return tests
    .filter((test) => !known.has(test.toLowerCase()))
    .map((test) => `--tests has ${test}, an unknown analyte, ${advice(test, names)}`);
}

/** Max characters of the procedures: Requested Procedure Description is LO, 64 characters (PS3.5 §6.2). */
const PROCEDURES_LENGTH_MAX = 64;

function procedureProblems(procedures: readonly string[]): string[] {
  const { length } = procedures.join(", ");
  if (length === 0) return ["--tests is empty, expected what to image, such as Thorax"];
  return length <= PROCEDURES_LENGTH_MAX
    ? []
    : [`--tests has ${length} characters, a worklist shows at most ${PROCEDURES_LENGTH_MAX}`];
}
