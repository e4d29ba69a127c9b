// The body of a STOW-RS response (PS3.18 §10.5.3.2, Store Instances Response Module), for a request with one instance.

/** The verdict of a response on an instance. `nothing`: another program responded, or the response names another instance. */
export type StowVerdict =
  | { readonly is: "stored" | "nothing" }
  /** `reason` is the Failure Reason (0008,1197); null without one. */
  | { readonly is: "failed"; readonly reason: number | null };

const FAILED_SOP_SEQUENCE = "00081198";
const REFERENCED_SOP_SEQUENCE = "00081199";
const REFERENCED_SOP_INSTANCE = "00081155";
const FAILURE_REASON = "00081197";

/** Reads a response in DICOM JSON or XML. A server that stored the instance may respond with an empty body or without sequences. */
export function readStowResponse(text: string, sopInstance: string): StowVerdict {
  if (text === "") return { is: "stored" };
  if (/^<(\?xml|NativeDicomModel)/.test(text)) return readXml(text, sopInstance);
  const dataset = readJson(text);
  if (dataset === null) return { is: "nothing" };
  const failed = itemsOf(dataset, FAILED_SOP_SEQUENCE).find((item) => names(item, sopInstance));
  if (failed !== undefined) {
    const [reason] = valuesOf(failed, FAILURE_REASON);
    return { is: "failed", reason: typeof reason === "number" ? reason : null };
  }
  const stored = itemsOf(dataset, REFERENCED_SOP_SEQUENCE);
  const isSilent = stored.length === 0 && !(FAILED_SOP_SEQUENCE in dataset);
  return { is: isSilent || stored.some((item) => names(item, sopInstance)) ? "stored" : "nothing" };
}

/** Reads XML without a parser. A response that lists failures decides nothing, so the instance is sent again. */
function readXml(text: string, sopInstance: string): StowVerdict {
  const isStored = text.includes(`>${sopInstance}<`) && !text.includes(`tag="${FAILED_SOP_SEQUENCE}"`);
  return { is: isStored ? "stored" : "nothing" };
}

type Dataset = Readonly<Record<string, unknown>>;

/** @returns null for a text that is not one dataset of DICOM JSON (PS3.18 §F.2), whose names are all tags */
function readJson(text: string): Dataset | null {
  try {
    const value = JSON.parse(text) as unknown;
    const dataset: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
    const isDataset = isObject(dataset) && Object.keys(dataset).every((name) => /^[0-9A-Fa-f]{8}$/.test(name));
    return isDataset ? dataset : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Dataset {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function valuesOf(dataset: Dataset, tag: string): readonly unknown[] {
  const element = dataset[tag];
  return isObject(element) && Array.isArray(element["Value"]) ? element["Value"] : [];
}

function itemsOf(dataset: Dataset, tag: string): Dataset[] {
  return valuesOf(dataset, tag).filter(isObject);
}

function names(item: Dataset, sopInstance: string): boolean {
  return valuesOf(item, REFERENCED_SOP_INSTANCE).includes(sopInstance);
}
