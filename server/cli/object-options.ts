import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { ObjectStore } from "../../shared/objects/object-store.ts";
import {
  BUCKET_PATTERN,
  type Encryption,
  endpointProblem,
  type ObjectTarget,
  PREFIX_PATTERN,
} from "../../shared/objects/object-target.ts";
import { isOpenToOthers } from "../../shared/runtime/private-folder.ts";

// The bucket for copies. Options of commands, because a clinic's admin must not choose which hosts the server connects to.

export interface ObjectOptions {
  readonly objects?: string;
  readonly objectsEndpoint?: string;
  readonly objectsRegion?: string;
  readonly objectsKey?: string;
  readonly objectsSecretFile?: string;
  readonly objectsEncryption?: Encryption["algorithm"];
  readonly objectsCa?: string;
}

/** Adds the options to a command that writes a file. */
export function withObjectOptions(command: Command): Command {
  return command
    .option("--objects <url>", "bucket for a copy of the file, such as s3://bucket/prefix")
    .option("--objects-endpoint <url>", "store of the bucket, such as https://s3.eu-central-1.amazonaws.com")
    .option("--objects-region <region>", "region of the bucket (default: us-east-1)")
    .option("--objects-key <id>", "access key id for the bucket")
    .option("--objects-secret-file <file>", "file with the secret access key, readable for this user alone")
    .addOption(
      new Option("--objects-encryption <way>", "encryption that the store has to confirm").choices([
        "AES256",
        "aws:kms",
      ]),
    )
    .option("--objects-ca <file>", "certificate of the store's authority in PEM");
}

/** @returns null without a bucket @throws Error with the remedy for options that do not fit */
export function objectStoreOf(options: ObjectOptions): ObjectStore | null {
  const { objects, objectsEndpoint, objectsKey, objectsSecretFile, objectsEncryption, ...others } = options;
  if (objects === undefined) {
    if (Object.entries(options).some(([name, value]) => name.startsWith("objects") && value !== undefined)) {
      throw new Error("--objects-... need --objects with the bucket, such as s3://bucket/prefix");
    }
    return null;
  }
  const [, bucket = "", prefix = ""] = /^s3:\/\/([^/]+)(?:\/(.+?)\/?)?\/?$/.exec(objects) ?? [];
  const isBucket =
    new RegExp(BUCKET_PATTERN).test(bucket) && (prefix === "" || new RegExp(PREFIX_PATTERN).test(prefix));
  if (!isBucket) throw new Error(`--objects is ${objects}, expected such as s3://bucket/prefix`);
  if (objectsEndpoint === undefined || objectsKey === undefined || objectsSecretFile === undefined) {
    throw new Error("--objects needs --objects-endpoint, --objects-key and --objects-secret-file");
  }
  const problem = endpointProblem(objectsEndpoint);
  if (problem !== null) throw new Error(`--objects-endpoint ${problem}`);
  const target: ObjectTarget = {
    endpoint: objectsEndpoint,
    bucket,
    prefix,
    region: others.objectsRegion ?? "us-east-1",
    accessKeyId: objectsKey,
    secretFile: objectsSecretFile,
    encryption: objectsEncryption === undefined ? null : encryptionOf(objectsEncryption),
    pathStyle: true,
    ca: others.objectsCa ?? null,
  };
  const secret = () => readPrivate(objectsSecretFile);
  secret();
  return new ObjectStore(target, { secret });
}

function encryptionOf(algorithm: Encryption["algorithm"]): Encryption {
  return algorithm === "AES256" ? { algorithm } : { algorithm, kmsKeyId: null };
}

function readPrivate(file: string): string {
  if (isOpenToOthers(file)) throw new Error(`other users can read ${file}, which holds a secret: chmod 600 ${file}`);
  return readFileSync(file, "utf8").trim();
}
