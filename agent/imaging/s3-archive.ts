import { createHash } from "node:crypto";
import fs from "node:fs";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { ObjectError } from "../../shared/objects/object-error.ts";
import { type ObjectSource, ObjectStore } from "../../shared/objects/object-store.ts";
import type { ObjectTarget } from "../../shared/objects/object-target.ts";
import { readSecret } from "../config/secret-file.ts";
import { SendError } from "../runtime/send-error.ts";
import type { InstanceFile } from "../spool/queries/images/instance-file.ts";
import { imageFile, isWhole, READ_BYTES } from "./image-folder.ts";

// An archive in a bucket. The key of an image is its own id and the hash of its file, so other bytes never take its place, and
// no text of a device becomes part of a path.

/**
 * Stores an instance and reads it back.
 * @throws SendError if the store does not return its bytes; its kind says whether to retry
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
    const source = await readSource(file);
    const store = new ObjectStore(target, { secret: () => readSecret(target.secretFile), signal });
    await store.store(`${instance.message}/${source.sha256}.dcm`, "application/dicom", source);
  } catch (error) {
    throw asSendError(error);
  } finally {
    await file.close();
  }
}

async function readSource(file: fs.promises.FileHandle): Promise<ObjectSource> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false, highWaterMark: READ_BYTES })) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return {
    size,
    sha256: hash.digest("hex"),
    async read(start, end) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
      return buffer.subarray(0, bytesRead);
    },
  };
}

/** A store refuses a set-up and never the content of an image, so each failure is retried. */
function asSendError(error: unknown): SendError {
  if (!(error instanceof ObjectError)) return new SendError("transient", errorMessage(error));
  const { message, status, retryAfterMs } = error;
  if (error.isDenied) return new SendError("unauthorized", message, { status: status ?? 0 });
  return new SendError("transient", message, { ...(status === null ? {} : { status }), retryAfterMs });
}
