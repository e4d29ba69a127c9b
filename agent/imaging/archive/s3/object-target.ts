/** A bucket of a store with the S3 protocol, and the way to use it. */
export interface ObjectTarget {
  /** URL of the store without a path. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  /** First part of each key, without a slash at its ends; empty for none. */
  readonly prefix: string;
  readonly accessKeyId: string;
  /** File with the secret access key, read for each request. */
  readonly secretFile: string;
  /** Encryption that the store has to confirm; null for none. */
  readonly encryption: Encryption | null;
  /** True for `https://host/bucket/key`, false for `https://bucket.host/key`. */
  readonly pathStyle: boolean;
  /** File with the certificate of the store's authority; null for Node's authorities. */
  readonly ca: string | null;
}

/** Server-side encryption. `kmsKeyId` null takes the key of the bucket. */
export type Encryption =
  | { readonly algorithm: "AES256" }
  | { readonly algorithm: "aws:kms"; readonly kmsKeyId: string | null };

/** A segment without a leading dot, because a URL drops the segments `.` and `..`. */
const SEGMENT = "[A-Za-z0-9_-][A-Za-z0-9._-]*";

/** Prefixes need no encoding in a URL, so stores and signatures cannot read one in two ways. */
export const PREFIX_PATTERN = `^${SEGMENT}(?:/${SEGMENT})*$`;

/** Names of buckets as AWS allows them. */
export const BUCKET_PATTERN = "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$";

/** @returns why a bucket cannot be part of the host name, or null */
export function hostStyleProblem(endpoint: string, bucket: string): string | null {
  const host = URL.canParse(endpoint) ? new URL(endpoint).hostname : "";
  if (/^\[|^[\d.]+$/.test(host)) return "is false, which needs an endpoint with a name: the bucket becomes part of it";
  return bucket.includes(".") ? "is false, which needs a bucket without a dot: certificates cover one level" : null;
}

/** @returns what is wrong with the URL of a store, or null */
export function endpointProblem(text: string): string | null {
  if (!URL.canParse(text)) return `is "${text}", expected a URL such as https://s3.eu-central-1.amazonaws.com`;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return `starts with ${url.protocol}//, expected https://`;
  }
  if (url.username !== "" || url.password !== "") return "holds a user or a password, expected the address alone";
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    return `goes on after the host, expected ${url.origin}: the bucket has a key of its own`;
  }
  return null;
}
