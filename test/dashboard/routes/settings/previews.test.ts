import { expect, test } from "vitest";
import { encodePng, withFrames } from "../../../../agent/imaging/files/png.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { CLIP_FRAMES_MAX, PREVIEW_BYTES_MAX, previewPath } from "../../../../shared/api/agent/preview.ts";
import { clinic, connection, patient, startServer, study, type TestServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";

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
  const { error, outcome } = response.json<{ error?: { code: string }; outcome?: string }>();
  return error === undefined ? `${response.statusCode} ${outcome}` : `${response.statusCode} ${error.code}`;
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
  expect(await put(server, key, previewPath(fp, 3), png(40))).toBe("200 stored");
  expect(await put(server, key, previewPath(fp, 1), png(20))).toBe("200 stored");
  expect(await put(server, key, previewPath(fp, 1), png(30))).toBe("200 stored");
  const reader = await makeUser(server, "reader", ours);
  const { body } = await reader.call("GET", `/results/${fp}/previews`);
  expect(body).toEqual({
    previews: [
      { position: 1, width: 30, height: 2, frames: 0 },
      { position: 3, width: 40, height: 2, frames: 0 },
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

test("a study of another clinic, of a user, and a missing one take no picture", async () => {
  const { server, key, theirKey, fp, dog } = await clinics();
  const staff = await makeUser(server, "staff", ours);
  const typed = { modality: "RADIOLOGY", acquired_at: "2026-11-21T09:00:00.000Z", results: [] };
  const manual = { entry_id: "0".repeat(32), patient_fp: dog.fp, ...typed };
  const { fp: typedFp } = (await staff.call<{ fp: string }>("POST", "/manual-study", manual)).body;
  const missing = "404 RECORD.NOT_FOUND";
  for (const [by, of] of [
    [theirKey, fp],
    [key, typedFp],
    [key, newFp("cds")],
  ] as const) {
    expect(await put(server, by, previewPath(of, 1), png(4))).toBe("200 rejected");
  }
  for (const position of ["0", "13", "01", "x"]) {
    expect(await put(server, key, `/agent/v1/previews/${fp}/${position}`, png(4))).toBe(missing);
  }
  const viewer = await server.makeKey(ours, ["clinic.patient.view"]);
  expect(await put(server, viewer, previewPath(fp, 1), png(4))).toBe("403 AUTH.FORBIDDEN");
});

test("the frames of a clip are listed and shown, and the picture comes without them", async () => {
  const { server, key, fp } = await clinics();
  const clip = Buffer.from(withFrames(png(40), [png(4), png(5), png(6)]));
  expect(await put(server, key, previewPath(fp, 1), clip)).toBe("200 stored");
  const reader = await makeUser(server, "reader", ours);
  const { body } = await reader.call("GET", `/results/${fp}/previews`);
  expect(body).toEqual({ previews: [{ position: 1, width: 40, height: 2, frames: 3 }] });
  const picture = async (query: string) => {
    const url = `/clinic/v1/clinics/${ours}/results/${fp}/previews/1${query}`;
    const { statusCode, rawPayload } = await server.app.inject({ url, headers: { cookie: reader.cookie } });
    return statusCode === 200 ? rawPayload : statusCode;
  };
  expect([await picture(""), await picture("?frame=1"), await picture("?frame=3")]).toEqual([png(40), png(4), png(6)]);
  for (const wrong of ["0", "4", "01", "x"]) expect(await picture(`?frame=${wrong}`)).toBe(404);
});

test("a clip with too many frames, a frame that is not a PNG, or a broken chunk is refused", async () => {
  const { server, key, fp } = await clinics();
  const send = (bytes: Uint8Array) => put(server, key, previewPath(fp, 1), Buffer.from(bytes));
  expect(
    await send(
      withFrames(
        png(4),
        Array.from({ length: CLIP_FRAMES_MAX }, () => png(2)),
      ),
    ),
  ).toBe("200 stored");
  expect(
    await send(
      withFrames(
        png(4),
        Array.from({ length: CLIP_FRAMES_MAX + 1 }, () => png(2)),
      ),
    ),
  ).toBe("200 rejected");
  expect(await send(withFrames(png(4), [Buffer.from("<svg onload=alert(1)>")]))).toBe("200 rejected");
  expect(await send(withFrames(png(4), [png(1025)]))).toBe("200 rejected");
  const broken = Buffer.from(png(4));
  broken.writeUInt32BE(0xffff_ffff, 8 + 25);
  expect(await send(broken)).toBe("200 rejected");
});

test("bytes that are not a PNG of an allowed size are refused", async () => {
  const { server, key, fp } = await clinics();
  const send = (bytes: Buffer, type?: string) => put(server, key, previewPath(fp, 1), bytes, type);
  expect(await send(Buffer.from("<svg onload=alert(1)>"))).toBe("200 rejected");
  expect(await send(png(1025))).toBe("200 rejected");
  expect(await send(png(4).subarray(0, -1))).toBe("200 rejected");
  expect(await send(Buffer.from("{}"), "application/json")).toBe("400 REQUEST.INVALID_BODY");
  expect(await send(Buffer.alloc(PREVIEW_BYTES_MAX + 1))).toBe("413 REQUEST.TOO_LARGE");
  expect(await send(png(1024))).toBe("200 stored");
});
