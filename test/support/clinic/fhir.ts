import { createRequire } from "node:module";
import { Fhir } from "fhir";
import type { Bundle, FhirResource, Patient, Resource } from "fhir/r4.js";

// Checks resources of FHIR R4: with the validator of the package `fhir`, and by asserts of our own for what it accepts.

const validator = new Fhir();
const { UcumLhcUtils } = createRequire(import.meta.url)("@lhncbc/ucum-lhc") as {
  UcumLhcUtils: { getInstance(): { validateUnitString(unit: string): { status: string } } };
};
const units = UcumLhcUtils.getInstance();

/** Returns what is wrong with a resource, or with a Bundle and all of its entries. */
export function faultsOf(resource: FhirResource): string[] {
  return [...foreignFaults(resource), ...ownFaults(resource)];
}

/** The errors of the package. Its warnings are about code systems that it does not have. */
export function foreignFaults(resource: FhirResource): string[] {
  const { messages } = validator.validate(resource, { errorOnUnexpected: true });
  return messages
    .filter(({ severity }) => ["error", "fatal"].includes(String(severity)))
    .map(({ location, message }) => `${location}: ${message}`);
}

/** What both validators of the guide accept: ids, zones, dates, flags, units, species, references, addresses, empty lists. */
export function ownFaults(resource: FhirResource): string[] {
  const resources = resource.resourceType === "Bundle" ? entriesOf(resource) : [resource];
  return [
    ...resources.flatMap((each) => [...idFaults(each), ...speciesFaults(each)]),
    ...[...nodesOf(resource, resource.resourceType)].flatMap(({ path, name, value }) => nodeFaults(path, name, value)),
    ...(resource.resourceType === "Bundle" ? bundleFaults(resource) : []),
  ];
}

function entriesOf(bundle: Bundle): Resource[] {
  return (bundle.entry ?? []).flatMap(({ resource }) => resource ?? []);
}

function idFaults({ resourceType, id }: Resource): string[] {
  if (id === undefined)
    return ["OperationOutcome", "CapabilityStatement"].includes(resourceType) ? [] : [`${resourceType} has no id`];
  return /^[A-Za-z0-9\-.]{1,64}$/.test(id) ? [] : [`${resourceType} has the id ${id}`];
}

function speciesFaults(resource: Resource): string[] {
  if (resource.resourceType !== "Patient") return [];
  const animal = (resource as Patient).extension?.filter(({ url }) => url.endsWith("/patient-animal")) ?? [];
  const species = animal.flatMap(({ extension = [] }) => extension.filter(({ url }) => url === "species"));
  return animal.length === 1 && species.length === 1 ? [] : [`Patient ${resource.id} has no species`];
}

interface Node {
  readonly path: string;
  readonly name: string;
  readonly value: unknown;
}

function* nodesOf(value: unknown, path: string, name = ""): Generator<Node> {
  yield { path, name, value };
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield* nodesOf(inner, `${path}.${key}`, Array.isArray(value) ? name : key);
  }
}

const INSTANTS = ["lastUpdated", "issued"];
const DATE_TIMES = ["effectiveDateTime", "started", "authoredOn", ...INSTANTS];
const FLAGS = ["N", "L", "H", "LL", "HH", "A", "AA"];

function nodeFaults(path: string, name: string, value: unknown): string[] {
  const faults: string[] = [];
  if (value === null || value === "") faults.push(`${path} is empty`);
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) faults.push(`${path} is empty`);
  if (DATE_TIMES.includes(name) && typeof value === "string") {
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value))
      faults.push(`${path} has no zone: ${value}`);
    else if (!isRealDay(value)) faults.push(`${path} is no day: ${value}`);
  }
  if (name === "birthDate" && typeof value === "string" && !isRealDay(value))
    faults.push(`${path} is no day: ${value}`);
  if (typeof value === "object" && value !== null) faults.push(...objectFaults(path, value));
  return faults;
}

function objectFaults(path: string, value: object): string[] {
  const { system, code } = value as { system?: unknown; code?: unknown };
  const faults: string[] = [];
  if (String(system).endsWith("/v3-ObservationInterpretation") && !FLAGS.includes(String(code)))
    faults.push(`${path} has the flag ${String(code)}`);
  if (system === "http://unitsofmeasure.org" && units.validateUnitString(String(code)).status !== "valid")
    faults.push(`${path} has the unit ${String(code)}`);
  if (Object.keys(value).filter((key) => /^value[A-Z]/.test(key)).length > 1) faults.push(`${path} has two values`);
  return faults;
}

function isRealDay(text: string): boolean {
  const day = text.slice(0, 10);
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

function bundleFaults(bundle: Bundle): string[] {
  const addresses = (bundle.entry ?? []).flatMap(({ fullUrl }) => fullUrl ?? []);
  const faults = addresses
    .filter((each, index) => addresses.indexOf(each) !== index)
    .map((each) => `${each} is there twice`);
  for (const { fullUrl = "", resource } of bundle.entry ?? []) {
    if (resource === undefined || resource.resourceType === "OperationOutcome") continue;
    if (!fullUrl.endsWith(`/${resource.resourceType}/${resource.id}`)) faults.push(`${fullUrl} is not ${resource.id}`);
  }
  return faults;
}

/** Returns the references of a resource to others of its server: `Patient/patient-01…`. */
export function referencesOf(resource: Resource): string[] {
  return [...nodesOf(resource, "")].flatMap(({ name, value }) =>
    name === "reference" && typeof value === "string" ? [value] : [],
  );
}
