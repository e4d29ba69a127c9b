import fs from "node:fs";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { ObjectError } from "./s3/object-error.ts";
import { fileSource } from "./s3/file-source.ts";
import { ObjectStore } from "./s3/object-store.ts";
import type { ObjectTarget } from "./s3/object-target.ts";
import { readSecret } from "../../config/values/secret-file.ts";
import { SendError } from "../../runtime/send-error.ts";
import type { InstanceFile } from "../../spool/queries/images/instance-file.ts";
import { imageFile, isWhole } from "../files/image-folder.ts";

// An archive in a bucket. The key of an image is its own id and the hash of its file, so other bytes never take its place, and
// no text of a device becomes part of a path.

/**
 * Stores an instance and reads it back.
 * @throws SendError if the store does not return its bytes; its kind decides the retry
 */
export async function storeInBucket(
  target: ObjectTarget,
  data: string,
  instance: InstanceFile,
  signal: AbortSignal,
): Promise<void> {
  // A damaged file must not become the copy for which the local one is removed.
  if (!(await isWhole(data, instance)))
    throw new SendError("permanent", "the file is missing, or differs from its hash");
  const file = await fs.promises.open(imageFile(data, instance.message));
  try {
    const source = await fileSource(file);
    const store = new ObjectStore(target, { secret: () => readSecret(target.secretFile), signal });
    await store.store(`${instance.message}/${source.sha256}.dcm`, "application/dicom", source);
  } catch (error) {
    throw asSendError(error);
  } finally {
    await file.close();
  }
}

/** A store refuses a set-up and never the content of an image, so each failure is retried. */
function asSendError(error: unknown): SendError {
  if (!(error instanceof ObjectError)) return new SendError("transient", errorMessage(error));
  const { message, status, retryAfterMs } = error;
  if (error.isDenied) return new SendError("unauthorized", message, { status: status ?? 0 });
  return new SendError("transient", message, { ...(status === null ? {} : { status }), retryAfterMs });
}
