import tls from "node:tls";
import path from "node:path";
import fs from "node:fs";
import { X509Certificate } from "node:crypto";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { rightsAdvice } from "../../../shared/files/rights-advice.ts";
import type { Security } from "../../transport/tls.ts";
import type { TlsFiles } from "./schema.ts";

/** Reads the TLS files of a device. @throws if a file cannot be read */
export function readTls({ certificate, key, ca }: TlsFiles): Security {
  return {
    minVersion: "TLSv1.2",
    ...(certificate === undefined ? {} : { cert: fs.readFileSync(certificate) }),
    ...(key === undefined ? {} : { key: fs.readFileSync(key) }),
    ...(ca === undefined ? {} : { ca: fs.readFileSync(ca) }),
  };
}

/** Resolves the paths of TLS files against the folder of the configuration. */
export function resolveTlsFiles(folder: string, files: TlsFiles): TlsFiles {
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [name, path.resolve(folder, file)]));
}

/** Checks the TLS files of a device. @returns the problem, or null */
export function tlsProblem(files: Record<string, unknown>, listens: boolean, folder: string): string | null {
  if (!Object.values(files).every((file) => typeof file === "string")) return null;
  const resolved = resolveTlsFiles(folder, files);
  if (listens && resolved.certificate === undefined) return "has no certificate, which a listener needs";
  if ("certificate" in files !== "key" in files) return "has one of certificate and key, expected both";
  try {
    const security = readTls(resolved);
    tls.createSecureContext(security);
    // createSecureContext ignores an invalid certificate, and would then trust no device.
    if (security.ca !== undefined) void new X509Certificate(security.ca);
    return null;
  } catch (error) {
    return `cannot be used: ${rightsAdvice(error) ?? errorMessage(error)}`;
  }
}
