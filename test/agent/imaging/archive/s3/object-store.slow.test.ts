import dns from "node:dns";
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type ObjectSource, ObjectStore, PART_BYTES } from "../../../../../agent/imaging/archive/s3/object-store.ts";
import { PATIENCE } from "../../../../../agent/imaging/archive/s3/signed-request.ts";
import type { ObjectTarget } from "../../../../../agent/imaging/archive/s3/object-target.ts";
import { makeCertificates } from "../../../../support/peers/certificates.ts";
import { temporaryFolder } from "../../../../support/machine/processes.ts";
import { S3_KEY, type S3Call, type S3Fault, type S3Options, S3Server } from "../../../../support/peers/s3-server.ts";
import { patiently } from "../../../../support/runner/patience.ts";

// Method: the client talks to a store over real sockets; the store checks each signature by a computation of its own.

let folder: string;
let server: S3Server;
let target: ObjectTarget;

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

async function serve(options: S3Options = {}): Promise<void> {
  server = new S3Server(options);
  const port = await server.start();
  target = {
    endpoint: `http://localhost:${port}`,
    bucket: "images",
    region: "us-east-1",
    prefix: "clinic/a",
    accessKeyId: S3_KEY.accessKeyId,
    secretFile: "",
    encryption: null,
    pathStyle: true,
    ca: null,
  };
}

function storeOf(changes: Partial<ObjectTarget> = {}, secret = S3_KEY.secret, patience = PATIENCE): ObjectStore {
  return new ObjectStore({ ...target, ...changes }, { secret: () => secret, patience });
}

function sourceOf(bytes: Buffer): ObjectSource {
  return {
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    read: async (start, end) => bytes.subarray(start, end),
  };
}

/** For a store that is silent. */
const SHORT = { ...PATIENCE, idleMs: 1000 };
/** For a store that is slow. */
const HURRIED = { idleMs: patiently(1000), bytesPerSecond: 1_000_000 };

const small = sourceOf(Buffer.from("a picture"));
const LARGE = randomBytes(2 * PART_BYTES + 1000);
const large = sourceOf(LARGE);

function kept(): string[] {
  return Array.from(server.objects, ([key, { bytes }]) => `${key} ${createHash("sha256").update(bytes).digest("hex")}`);
}

/** A fault of the first call of an operation. */
function once(operation: S3Call["operation"], fault: S3Fault, part = 0): (call: S3Call) => S3Fault | null {
  let isDone = false;
  return (call) => {
    if (isDone || call.operation !== operation || (part !== 0 && call.part !== part)) return null;
    isDone = true;
    return fault;
  };
}

describe("an object", () => {
  test("is stored under the prefix and read back", async () => {
    await serve();
    await storeOf().store("1/a.dcm", "application/dicom", small);
    expect(server.log).toEqual(["GetObject", "PutObject", "GetObject"]);
    expect(kept()).toEqual([`clinic/a/1/a.dcm ${small.sha256}`]);
    expect(server.objects.get("clinic/a/1/a.dcm")?.headers).toEqual({ "content-type": "application/dicom" });
  });

  test("is not sent again if the bucket has its bytes", async () => {
    await serve();
    await storeOf().store("a", "application/dicom", small);
    server.calls.length = 0;
    await storeOf().store("a", "application/dicom", small);
    expect(server.log).toEqual(["GetObject"]);
  });

  test("takes the place of other bytes of its size", async () => {
    await serve();
    server.objects.set("clinic/a/a", { bytes: Buffer.alloc(small.size), headers: {} });
    await storeOf().store("a", "application/dicom", small);
    expect(kept()).toEqual([`clinic/a/a ${small.sha256}`]);
  });

  test("is stored in a bucket that is part of the host name", async () => {
    await serve({ virtualHost: true });
    const asked: string[] = [];
    const lookup = vi.spyOn(dns, "lookup") as unknown as { mockImplementation(one: typeof answerLoopback): void };
    const answerLoopback = (name: string, _: object, done: (error: null, all: object[]) => void) => {
      asked.push(name);
      done(null, [{ address: "127.0.0.1", family: 4 }]);
    };
    lookup.mockImplementation(answerLoopback);
    onTestFinished(() => void vi.restoreAllMocks());
    await storeOf({ pathStyle: false, prefix: "" }).store("a", "application/dicom", small);
    expect(kept()).toEqual([`a ${small.sha256}`]);
    expect(new Set(asked)).toEqual(new Set(["images.localhost"]));
  });

  test.each([{ algorithm: "AES256" } as const, { algorithm: "aws:kms", kmsKeyId: "key/1" } as const])(
    "is encrypted by the store with %j, in one request or in parts",
    async (encryption) => {
      await serve();
      await storeOf({ encryption }).store("a", "application/dicom", small);
      await storeOf({ encryption }).store("b", "application/dicom", large);
      for (const { headers } of server.objects.values()) {
        expect(headers).toEqual({
          "content-type": "application/dicom",
          "x-amz-server-side-encryption": encryption.algorithm,
          ...("kmsKeyId" in encryption ? { "x-amz-server-side-encryption-aws-kms-key-id": encryption.kmsKeyId } : {}),
        });
      }
    },
  );

  test("does not count as stored if the store ignores its encryption", async () => {
    await serve({ ignoresEncryption: true });
    await expect(storeOf({ encryption: { algorithm: "AES256" } }).store("a", "x/y", small)).rejects.toThrow(
      "expected the store to encrypt with AES256, got no encryption",
    );
  });
});

describe("a large object", () => {
  test("is stored in parts", async () => {
    await serve();
    await storeOf().store("a", "application/dicom", large);
    expect(server.log).toEqual([
      "GetObject",
      "ListMultipartUploads",
      "CreateMultipartUpload",
      "UploadPart 1",
      "UploadPart 2",
      "UploadPart 3",
      "CompleteMultipartUpload",
      "GetObject",
    ]);
    expect(kept()).toEqual([`clinic/a/a ${large.sha256}`]);
    expect(server.uploads.size).toBe(0);
  });

  test("goes on with its first missing part, over the pages of a list", async () => {
    await serve({ pageSize: 1 });
    server.fault = once("UploadPart", { do: "refuse", status: 500, code: "InternalError" }, 3);
    await expect(storeOf().store("a", "application/dicom", large)).rejects.toThrow("500 InternalError");
    server.calls.length = 0;
    await storeOf().store("a", "application/dicom", large);
    expect(server.log).toEqual([
      "GetObject",
      "ListMultipartUploads",
      "ListParts",
      "ListParts",
      "UploadPart 3",
      "CompleteMultipartUpload",
      "GetObject",
    ]);
    expect(kept()).toEqual([`clinic/a/a ${large.sha256}`]);
  });

  test("sends a part again that the store has with another size", async () => {
    await serve();
    const [truncated, refused] = [
      once("UploadPart", { do: "truncate" }, 1),
      once("UploadPart", { do: "refuse", status: 500, code: "InternalError" }, 2),
    ];
    server.fault = (call) => truncated(call) ?? refused(call);
    await expect(storeOf().store("a", "application/dicom", large)).rejects.toThrow("500");
    await storeOf().store("a", "application/dicom", large);
    expect(server.log.filter((line) => line === "UploadPart 1")).toHaveLength(2);
    expect(kept()).toEqual([`clinic/a/a ${large.sha256}`]);
  });

  test.each([
    [
      "an upload that the store lists but no longer has",
      "ListParts",
      { do: "refuse", status: 404, code: "NoSuchUpload" },
    ],
    ["a key that may not list uploads", "ListMultipartUploads", { do: "refuse", status: 403, code: "AccessDenied" }],
    ["a store without lists", "ListMultipartUploads", { do: "refuse", status: 501, code: "NotImplemented" }],
  ] as const)("starts again after %s", async (_, operation, fault) => {
    await serve();
    server.fault = once("UploadPart", { do: "refuse", status: 500, code: "InternalError" }, 2);
    await expect(storeOf().store("a", "application/dicom", large)).rejects.toThrow("500");
    server.fault = (call) => (call.operation === operation ? fault : null);
    await storeOf().store("a", "application/dicom", large);
    expect(kept()).toEqual([`clinic/a/a ${large.sha256}`]);
  });

  test("whose upload expires half-way is stored by the next attempt", async () => {
    await serve();
    server.fault = (call) => {
      if (call.operation === "UploadPart" && call.nth === 2) server.uploads.clear();
      return null;
    };
    await expect(storeOf().store("a", "application/dicom", large)).rejects.toThrow("404 NoSuchUpload");
    await storeOf().store("a", "application/dicom", large);
    expect(kept()).toEqual([`clinic/a/a ${large.sha256}`]);
  });

  test("does not count as stored if an error follows the status 200", async () => {
    await serve();
    server.fault = once("CompleteMultipartUpload", { do: "error-body", code: "InternalError" });
    await expect(storeOf().store("a", "application/dicom", large)).rejects.toThrow("200 InternalError");
    expect(kept()).toEqual([]);
    await storeOf().store("a", "application/dicom", large);
    expect(server.log.filter((line) => line.startsWith("UploadPart"))).toHaveLength(3);
  });

  test("does not count as stored if the store responds with 200 without a result", async () => {
    await serve();
    server.fault = once("CompleteMultipartUpload", { do: "forget" });
    await expect(storeOf().store("a", "application/dicom", large)).rejects.toThrow(
      "expected CompleteMultipartUploadResult, got no body",
    );
  });
});

describe("a store that", () => {
  test.each([
    ["changes a byte", "PutObject", { do: "flip" }, /^read back: expected SHA-256 [0-9a-f]{64}, got [0-9a-f]{64}$/],
    ["stores half of the bytes", "PutObject", { do: "truncate" }, /^read back: expected 9 bytes, got 4$/],
    ["stores nothing", "PutObject", { do: "forget" }, /404 NoSuchKey/],
    ["returns a changed byte", "GetObject", { do: "flip" }, /^read back: expected SHA-256/],
    ["cuts what it returns", "GetObject", { do: "truncate" }, /broke off/],
    ["cuts the connection", "PutObject", { do: "cut" }, /broke off/],
    ["does not respond", "PutObject", { do: "stall" }, /no transfer within 1 s/],
    ["does not return", "GetObject", { do: "stall" }, /no transfer within 1 s/],
    ["returns byte after byte", "GetObject", { do: "trickle" }, /expected at least 1000000 bytes a second, got less/],
    [
      "is busy",
      "PutObject",
      { do: "refuse", status: 503, code: "SlowDown", headers: { "retry-after": "7" } },
      /503 SlowDown/,
    ],
    [
      "is at another address",
      "PutObject",
      { do: "refuse", status: 307, code: "TemporaryRedirect", headers: { location: "http://other.example/x" } },
      /307 to other.example, which is not followed/,
    ],
  ] as const)("%s does not have the object until it is right", async (_, operation, fault, reason) => {
    await serve();
    server.fault = (call) => (call.operation === operation ? fault : null);
    const patience = fault.do === "stall" ? SHORT : fault.do === "trickle" ? HURRIED : PATIENCE;
    await expect(storeOf({}, S3_KEY.secret, patience).store("a", "application/dicom", small)).rejects.toThrow(reason);
    server.fault = () => null;
    await storeOf().store("a", "application/dicom", small);
    expect(kept()).toEqual([`clinic/a/a ${small.sha256}`]);
  });

  test("is busy delays the retry to its time", async () => {
    await serve();
    server.fault = () => ({ do: "refuse", status: 503, code: "SlowDown", headers: { "retry-after": "7" } });
    await expect(storeOf().store("a", "x/y", small)).rejects.toMatchObject({ retryAfterMs: 7000, isDenied: false });
  });

  test.each([
    ["another secret", { secret: "wrong" }, "403 SignatureDoesNotMatch"],
    ["an unknown key", { changes: { accessKeyId: "AKIAOTHER" } }, "403 InvalidAccessKeyId"],
    ["another region", { changes: { region: "eu-central-1" } }, "400 AuthorizationHeaderMalformed"],
    ["an unknown bucket", { changes: { bucket: "other" } }, "404 NoSuchBucket: said by the test: create the bucket"],
  ] as const)(
    "is given %s reports it",
    async (_, {
      secret = S3_KEY.secret,
      changes = {},
    }: { secret?: string; changes?: Partial<ObjectTarget> }, reason) => {
      await serve();
      await expect(storeOf(changes, secret).store("a", "x/y", small)).rejects.toThrow(reason);
      expect(kept()).toEqual([]);
    },
  );

  test("has another time names the clock", async () => {
    await serve({ now: () => Date.now() + 3_600_000 });
    await expect(storeOf().store("a", "x/y", small)).rejects.toThrow(
      /RequestTimeTooSkewed.*set the clock of this machine/,
    );
  });
});

test("a store with a certificate of its own needs its authority", async () => {
  const { ca, agent } = makeCertificates(folder);
  const tls = { cert: fs.readFileSync(agent.certificate, "utf8"), key: fs.readFileSync(agent.key, "utf8") };
  await serve({ tls });
  const endpoint = target.endpoint.replace("http://localhost", "https://127.0.0.1");
  await storeOf({ endpoint, ca }).store("a", "application/dicom", small);
  expect(kept()).toEqual([`clinic/a/a ${small.sha256}`]);
  await expect(storeOf({ endpoint }).store("b", "application/dicom", small)).rejects.toThrow(
    "unable to verify the first certificate",
  );
});

test("A check of a bucket leaves no object and no upload", async () => {
  await serve();
  await storeOf().tryWriting();
  expect(server.log).toEqual(["CreateMultipartUpload", "AbortMultipartUpload"]);
  expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
});

test("An object that is larger than the file is not read to its end", async () => {
  await serve();
  server.objects.set("clinic/a/a", { bytes: Buffer.alloc(500), headers: {} });
  server.fault = ({ operation }) => (operation === "PutObject" ? { do: "forget" } : null);
  await expect(storeOf().store("a", "x/y", small)).rejects.toThrow("read back: expected 9 bytes, got more");
});
