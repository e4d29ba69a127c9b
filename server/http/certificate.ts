import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { rightsAdvice } from "../../shared/files/rights-advice.ts";
import { errorCode, errorMessage } from "../../shared/runtime/error-message.ts";

// The certificate of a server that serves TLS itself, without a reverse proxy.

/** Certificate chain and private key as PEM. */
export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

const DAY_MS = 86_400_000;
/** Time before the end of a certificate at which the log warns. */
const ENDS_SOON_MS = 14 * DAY_MS;

/** Reads the files of a certificate and its key. @throws Error that names the option and the fault */
export function readCertificate(certFile: string, keyFile: string): Certificate {
  const [cert, key] = [readPem("--tls-cert", certFile), readPem("--tls-key", keyFile)];
  const first = certificateIn(cert, certFile);
  if (!first.checkPrivateKey(privateKeyIn(key, keyFile))) {
    throw new Error(
      `--tls-key ${keyFile} is not the key of the certificate ${certFile}: expected the key it was made with`,
    );
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new Error(`--tls-cert ${certFile} cannot be used: ${(error as Error).message}`, { cause: error });
  }
  return { cert, key };
}

/** Returns why browsers and agents refuse the certificate now or soon; null if its time is right. */
export function certificateWarning({ cert }: Certificate, now: number): string | null {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  const end = new Date(to).toISOString();
  if (now > to) return `the certificate expired at ${end}: browsers and agents refuse it, renew it`;
  if (now < from)
    return `the certificate is valid from ${new Date(from).toISOString()} on: compare this machine's clock`;
  if (to - now < ENDS_SOON_MS) return `the certificate expires at ${end}: renew it`;
  return null;
}

function readPem(option: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const isMissing = errorCode(error) === "ENOENT";
    const why = isMissing ? "there is no such file" : (rightsAdvice(error, file) ?? errorMessage(error));
    throw new Error(`${option} ${file}: ${why}`, { cause: error });
  }
}

function certificateIn(pem: Buffer, file: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new Error(`--tls-cert ${file} holds no certificate: expected PEM`, { cause: error });
  }
}

function privateKeyIn(pem: Buffer, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isEncrypted = pem.includes("ENCRYPTED");
    const why = isEncrypted ? "is encrypted: expected one without a passphrase" : "holds no private key: expected PEM";
    throw new Error(`--tls-key ${file} ${why}`, { cause: error });
  }
}
