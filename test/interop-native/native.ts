import { createRequire } from "node:module";

// Runs one call of dicom-dimse-native in a separate process, since the addon may crash: node native.ts FUNCTION OPTIONS_AS_JSON.
// Prints each result of the addon as a line of JSON.

type Call = (options: unknown, received: (json: string) => void) => void;

const [name = "", options = "{}"] = process.argv.slice(2);
const native = createRequire(import.meta.url)("dicom-dimse-native") as Readonly<Record<string, Call>>;
native[name]?.(JSON.parse(options), (json) => process.stdout.write(`${JSON.stringify(JSON.parse(json))}\n`));
