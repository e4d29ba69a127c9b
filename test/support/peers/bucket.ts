import fs from "node:fs";
import path from "node:path";
import type { Destination } from "../../../agent/config/values/destination.ts";
import { S3_KEY } from "./s3-server.ts";

/** Returns the destination `vault` of an S3Server. Its secret is a file in the folder. */
export function bucketOf(port: number, folder: string): Destination & { way: "s3" } {
  const secretFile = path.join(folder, "s3.secret");
  fs.writeFileSync(secretFile, `${S3_KEY.secret}\n`, { mode: 0o600 });
  return {
    id: "vault",
    way: "s3",
    endpoint: `http://127.0.0.1:${port}`,
    bucket: "images",
    region: "us-east-1",
    prefix: "",
    accessKeyId: S3_KEY.accessKeyId,
    secretFile,
    encryption: null,
    pathStyle: true,
    ca: null,
  };
}
