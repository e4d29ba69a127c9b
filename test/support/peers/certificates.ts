import { execFileSync } from "node:child_process";
import path from "node:path";

// Certificates that expire after one day. The machine's openssl makes them, so that none is committed.

export interface Certificates {
  readonly ca: string;
  /** The agent's certificate for 127.0.0.1 and the host, signed by the authority. */
  readonly agent: { readonly certificate: string; readonly key: string };
  /** A device's certificate, signed by the authority. */
  readonly device: { readonly certificate: string; readonly key: string };
  /** A device's certificate from an unknown issuer. */
  readonly untrusted: { readonly certificate: string; readonly key: string };
}

export function makeCertificates(folder: string, host?: string): Certificates {
  const make = (name: string, ...args: readonly string[]) => {
    const files = { certificate: path.join(folder, `${name}.crt`), key: path.join(folder, `${name}.pem`) };
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", files.key];
    const request = ["req", "-x509", ...key, "-days", "1", "-subj", `/CN=${name}`, "-out", files.certificate, ...args];
    execFileSync("openssl", request, { stdio: "pipe" });
    return files;
  };
  const ca = make("authority");
  const signed = ["-CA", ca.certificate, "-CAkey", ca.key];
  return {
    ca: ca.certificate,
    agent: make(
      "agent",
      ...signed,
      "-addext",
      `subjectAltName=IP:127.0.0.1${host === undefined ? "" : `,DNS:${host}`}`,
    ),
    device: make("device", ...signed, "-addext", "subjectAltName=IP:127.0.0.1"),
    untrusted: make("untrusted", "-addext", "subjectAltName=IP:127.0.0.1"),
  };
}
