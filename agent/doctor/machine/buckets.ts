import { ProxyError } from "../../../shared/network/proxy.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { ObjectError } from "../../imaging/archive/s3/object-error.ts";
import { ObjectStore } from "../../imaging/archive/s3/object-store.ts";
import type { Finding } from "../../page/types/doctor.ts";
import type { Destination } from "../../config/values/destination.ts";
import { readSecret } from "../../config/values/secret-file.ts";
import { configCheck } from "../check/check.ts";
import { ok, problem, skipped, warning } from "../check/finding.ts";

/** Max wait for each response of a store. */
const ANSWER_MS = 5_000;
const PATIENCE = { idleMs: ANSWER_MS, bytesPerSecond: 1024 };

/** Starts an upload in each bucket and aborts it: reachable, clock, key, bucket, permission to write. */
export const buckets = configCheck("bucket", "Buckets of images", async ({ destinations }, { isOffline }) => {
  const found = destinations.filter((destination) => destination.way === "s3");
  if (found.length > 0 && isOffline) return [skipped("bucket.offline", "not asked, because of --offline")];
  return Promise.all(found.map(tryBucket));
});

async function tryBucket(target: Destination & { way: "s3" }): Promise<Finding> {
  const { id, bucket, secretFile } = target;
  try {
    await new ObjectStore(target, { secret: () => readSecret(secretFile), patience: PATIENCE }).tryWriting();
    return ok("bucket.writable", `${id}: the bucket ${bucket} takes images`);
  } catch (error) {
    if (error instanceof ObjectError && error.cause instanceof ProxyError) {
      return warning("bucket.proxy", `${id}: ${error.cause.fault}`, error.cause.remedy ?? "correct the proxy");
    }
    const sentence = `${id}: ${errorMessage(error)}`;
    return error instanceof ObjectError ? faultOf(error, sentence, target) : unreadable(sentence, secretFile);
  }
}

function faultOf(error: ObjectError, sentence: string, { id, endpoint, region }: Destination & { way: "s3" }): Finding {
  if (error.status === null) {
    // The network may be away for a moment, and images wait for it.
    const remedy = `look whether this machine reaches ${endpoint}, and whether its certificate is right`;
    return warning("bucket.unreachable", sentence, remedy);
  }
  switch (error.code) {
    case "RequestTimeTooSkewed":
      return problem("bucket.clock", sentence, "set the clock of this machine to the time of the internet");
    case "NoSuchBucket":
      return problem("bucket.missing", sentence, "create the bucket at the store, or correct s3.bucket in agent.yaml");
    case "AccessDenied": {
      const rights = "PutObject, GetObject, AbortMultipartUpload, ListMultipartUploadParts, ListBucketMultipartUploads";
      return problem("bucket.denied", sentence, `give the key of ${id} these rights at the store: ${rights}`);
    }
    case "InvalidAccessKeyId":
    case "SignatureDoesNotMatch":
      return problem("bucket.key", sentence, "copy accessKeyId and the line of s3.secretFile from the store again");
    case "AuthorizationHeaderMalformed":
    case "PermanentRedirect":
    case "TemporaryRedirect":
      return problem("bucket.region", sentence, `compare s3.region, ${region}, and s3.endpoint with the store's`);
    default:
      return error.status >= 500
        ? warning("bucket.fails", sentence, "look at the state of the store; the agent sends its images later")
        : problem("bucket.refuses", sentence, "compare s3 in agent.yaml with the description of the store");
  }
}

function unreadable(sentence: string, file: string): Finding {
  return problem("bucket.unreadable", sentence, `write the secret access key into ${file}, in one line`);
}
