import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { encodePng } from "../../../agent/imaging/png.ts";
import { buildApp } from "../../../server/app.ts";
import { PictureObjects } from "../../../server/store/studies/picture-objects.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { ObjectStore } from "../../../shared/objects/object-store.ts";
import { PREVIEW_BYTES_MAX, previewPath } from "../../../shared/api/preview.ts";
import { clinic, connection, patient, startServer, study, type TestServer } from "../../server/harness.ts";
import { S3_KEY, S3Server } from "../../support/s3-server.ts";
import { makeUser } from "../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

/** A grey picture. */
function png(width: number, height = 2): Buffer {
  return Buffer.from(encodePng({ width, height, channels: 1, pixels: new Uint8Array(width * height) }));
}

async function put({ app }: TestServer, key: string, path: string, payload: Buffer, type = "image/png") {
  const response = await app.inject({
    method: "PUT",
    url: path,
    headers: { "x-api-key": key, "content-type": type },
    payload,
  });
  const { error } = response.json<{ error?: { code: string; message: string } }>();
  return error === undefined ? response.statusCode : `${response.statusCode} ${error.code}`;
}

async function clinics() {
  const dog = patient();
  const server = await startServer(clinic(ours), clinic(theirs), dog, connection(dog.fp, ours));
  const [key, theirKey] = [
    await server.makeKey(ours, ["clinic.lab.ingest"]),
    await server.makeKey(theirs, ["clinic.lab.ingest"]),
  ];
  const sent = study({ patient_fp: dog.fp, modality: "RADIOLOGY", results: [] });
  await server.push(key, sent);
  return { server, key, theirKey, fp: sent.fp, dog };
}

test("a picture that the agent put is listed and shown to users of the clinic", async () => {
  const { server, key, fp } = await clinics();
  expect(await put(server, key, previewPath(fp, 3), png(40))).toBe(200);
  expect(await put(server, key, previewPath(fp, 1), png(20))).toBe(200);
  expect(await put(server, key, previewPath(fp, 1), png(30))).toBe(200);
  const reader = await makeUser(server, "reader", ours);
  const { body } = await reader.call("GET", `/results/${fp}/previews`);
  expect(body).toEqual({
    previews: [
      { position: 1, width: 30, height: 2 },
      { position: 3, width: 40, height: 2 },
    ],
  });
  const url = `/clinic/v1/clinics/${ours}/results/${fp}/previews/1`;
  const { headers, rawPayload } = await server.app.inject({ url, headers: { cookie: reader.cookie } });
  expect(rawPayload.equals(png(30))).toBe(true);
  expect(headers).toMatchObject({
    "content-type": "image/png",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  expect((await reader.call("GET", `/results/${fp}/previews/2`)).status).toBe(404);
  expect((await reader.call("GET", `/results/${fp}/previews/..%2f1`)).status).toBe(404);
});

test("a study of another clinic, of a user, and one that does not exist take no picture", async () => {
  const { server, key, theirKey, fp, dog } = await clinics();
  const staff = await makeUser(server, "staff", ours);
  const typed = { modality: "RADIOLOGY", acquired_at: "2026-11-21T09:00:00.000Z", results: [] };
  const manual = { entry_id: "0".repeat(32), patient_fp: dog.fp, ...typed };
  const { fp: typedFp } = (await staff.call<{ fp: string }>("POST", "/manual-study", manual)).body;
  const missing = "404 RECORD.NOT_FOUND";
  expect(await put(server, theirKey, previewPath(fp, 1), png(4))).toBe(missing);
  expect(await put(server, key, previewPath(typedFp, 1), png(4))).toBe(missing);
  expect(await put(server, key, previewPath(newFp("cds"), 1), png(4))).toBe(missing);
  for (const position of ["0", "13", "01", "x"]) {
    expect(await put(server, key, `/agent/v1/previews/${fp}/${position}`, png(4))).toBe(missing);
  }
  const viewer = await server.makeKey(ours, ["clinic.patient.view"]);
  expect(await put(server, viewer, previewPath(fp, 1), png(4))).toBe("403 AUTH.FORBIDDEN");
});

test("bytes that are no PNG of an allowed size are refused", async () => {
  const { server, key, fp } = await clinics();
  const send = (bytes: Buffer, type?: string) => put(server, key, previewPath(fp, 1), bytes, type);
  expect(await send(Buffer.from("<svg onload=alert(1)>"))).toBe("400 REQUEST.INVALID_BODY");
  expect(await send(png(1025))).toBe("400 REQUEST.INVALID_BODY");
  expect(await send(png(4).subarray(0, -1))).toBe("400 REQUEST.INVALID_BODY");
  expect(await send(Buffer.from("{}"), "application/json")).toBe("400 REQUEST.INVALID_BODY");
  expect(await send(Buffer.alloc(PREVIEW_BYTES_MAX + 1))).toBe("413 REQUEST.TOO_LARGE");
  expect(await send(png(1024))).toBe(200);
});

/** Returns the clinics of clinics() behind a server whose pictures are in a bucket. */
async function withBucket() {
  const made = await clinics();
  const bucket = new S3Server({ bucket: "pictures" });
  const target = {
    endpoint: `http://127.0.0.1:${await bucket.start()}`,
    bucket: "pictures",
    prefix: "vetwire",
    region: "us-east-1",
    accessKeyId: S3_KEY.accessKeyId,
    secretFile: "",
    encryption: null,
    pathStyle: true,
    ca: null,
  };
  const pictures = new PictureObjects(new ObjectStore(target, { secret: () => S3_KEY.secret }));
  const { store, pepper, clock } = made.server;
  const app = buildApp(store, { pepper, now: () => clock.now, pictures });
  onTestFinished(async () => {
    await app.close();
    await bucket.stop();
  });
  const { cookie } = await makeUser(made.server, "reader", ours);
  const show = async (position: number, of = app) => {
    const url = `/clinic/v1/clinics/${ours}/results/${made.fp}/previews/${position}`;
    const { statusCode, rawPayload, headers } = await of.inject({ url, headers: { cookie } });
    if (statusCode === 200) return { type: headers["content-type"], bytes: rawPayload };
    return `${statusCode} ${(JSON.parse(rawPayload.toString()) as { error: { code: string } }).error.code}`;
  };
  return { ...made, bucket, server: { ...made.server, app }, show, withoutBucket: made.server.app };
}

test("a picture is in the bucket under its study and hash, and not in the database", async () => {
  const { server, key, fp, bucket, show } = await withBucket();
  expect(await put(server, key, previewPath(fp, 2), png(20))).toBe(200);
  const hash = createHash("sha256").update(png(20)).digest("hex");
  expect([...bucket.objects.keys()]).toEqual([`vetwire/previews/${fp}/2/${hash}.png`]);
  expect(await show(2)).toEqual({ type: "image/png", bytes: png(20) });
  expect(await put(server, key, previewPath(fp, 2), png(30))).toBe(200);
  expect(await show(2)).toEqual({ type: "image/png", bytes: png(30) });
});

test("a picture that the database got before stays there", async () => {
  const { key, fp, bucket, show, server, withoutBucket } = await withBucket();
  expect(await put({ ...server, app: withoutBucket }, key, previewPath(fp, 1), png(20))).toBe(200);
  expect(await show(1)).toEqual({ type: "image/png", bytes: png(20) });
  expect(bucket.calls).toEqual([]);
});

test("a picture that the bucket changed, exchanged or lost is an error and never another picture", async () => {
  const { server, key, fp, bucket, show } = await withBucket();
  expect(await put(server, key, previewPath(fp, 1), png(20))).toBe(200);
  expect(await put(server, key, previewPath(fp, 2), png(30))).toBe(200);
  const [first = "", second = ""] = bucket.objects.keys();
  const other = bucket.objects.get(second)!;
  bucket.objects.set(first, other);
  expect(await show(1)).toBe("500 RECORD.DAMAGED");
  bucket.objects.delete(first);
  expect(await show(1)).toBe("500 RECORD.DAMAGED");
  bucket.fault = () => ({ do: "flip" });
  expect(await show(2)).toBe("500 RECORD.DAMAGED");
  bucket.fault = () => ({ do: "refuse", status: 503, code: "SlowDown" });
  expect(await show(2)).toBe("503 SERVER.UNAVAILABLE");
});

test("a picture that the bucket did not store gets no success", async () => {
  const { server, key, fp, theirKey, bucket, show } = await withBucket();
  bucket.fault = ({ operation }) => (operation === "PutObject" ? { do: "flip" } : null);
  expect(await put(server, key, previewPath(fp, 1), png(20))).toBe("503 SERVER.UNAVAILABLE");
  expect(await show(1)).toBe("404 RECORD.NOT_FOUND");
  bucket.fault = () => null;
  bucket.objects.clear();
  expect(await put(server, theirKey, previewPath(fp, 1), png(20))).toBe("404 RECORD.NOT_FOUND");
  expect(bucket.objects.size).toBe(0);
});

test("a picture in a bucket is an error on a server without one", async () => {
  const { server, key, fp, show, withoutBucket } = await withBucket();
  expect(await put(server, key, previewPath(fp, 1), png(20))).toBe(200);
  expect(await show(1, withoutBucket)).toBe("503 SERVER.UNAVAILABLE");
});
