import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { parse } from "yaml";

// Bundles the programs: agent, server, their threads, and what they import from npm. The result has the folders of the sources,
// so that shared/files/program-files.ts finds the same names in both.

const ROOT = path.join(import.meta.dirname, "../../..");

/** The modules that a process or a thread starts with. */
const ENTRIES = [
  "agent/main",
  "agent/doctor/machine/quick-check",
  "agent/imaging/files/file-process",
  "agent/imaging/files/file-thread",
  "agent/imaging/worker",
  "agent/spool/thread/worker",
  "server/dashboard/report/pdf-worker",
  "server/import/table/read-worker",
  "server/main",
  "server/demo/child",
  "server/demo/main",
  "shared/platform/care/backup-worker",
  "shared/main",
  "shared/platform/upgrade/copy-worker",
];

/** Packages that stay in node_modules, because they load files of their own: native code, WASM, fonts, a web page. */
export const LOADED_FROM_DISK = [
  "@cornerstonejs/codec-charls",
  "@cornerstonejs/codec-openjpeg",
  "@fastify/swagger-ui",
  "better-sqlite3",
  "pdfmake",
  "serialport",
];

/**
 * Writes the bundle and the reference data to `folder`, and removes what was there before. Its pages are built by vite.
 * @returns the files that the bundle holds parts of, relative to the root of the project
 */
export async function bundle(folder: string): Promise<string[]> {
  for (const part of ["agent", "server", "shared", "chunks"]) {
    fs.rmSync(path.join(folder, part), { recursive: true, force: true });
  }
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES.map((entry) => `${entry}.ts`),
    outbase: ".",
    outdir: path.resolve(folder),
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22.18",
    // pg loads pg-native on request; ours does not request it.
    external: [...LOADED_FROM_DISK, "pg-native"],
    // Packages in CommonJS call require for the modules of Node.
    banner: {
      js: 'import { createRequire as requireOf } from "node:module";const require = requireOf(import.meta.url);',
    },
    metafile: true,
    // THIRD_PARTY_LICENSES has the licenses.
    legalComments: "none",
    logLevel: "warning",
  });
  fs.cpSync(path.join(ROOT, "shared/data"), path.join(folder, "shared/data"), { recursive: true });
  // The profiles of devices that are files, as JSON: an agent that parses YAML starts a quarter later.
  const devices = fs.readdirSync(path.join(ROOT, "agent/devices"), { recursive: true, encoding: "utf8" });
  for (const name of devices.filter((each) => each.endsWith(".yaml"))) {
    const file = path.join("agent/devices", name);
    const form: unknown = parse(fs.readFileSync(path.join(ROOT, file), "utf8"), { schema: "core" });
    const built = path.join(folder, file.replace(/yaml$/, "json"));
    fs.mkdirSync(path.dirname(built), { recursive: true });
    fs.writeFileSync(built, JSON.stringify(form));
  }
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file);
}
