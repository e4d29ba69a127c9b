import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, keyPermissions, patient, startServer } from "../../harness.ts";

const ours = newFp("clinic");
const LIST = "/api/v1/patients?page_size=50";

interface Asked {
  url?: string;
  method?: "HEAD";
}

async function world() {
  const animals = Array.from({ length: 50 }, () => patient());
  const server = await startServer(
    clinic(ours),
    animals,
    animals.map(({ fp }) => connection(fp, ours)),
  );
  const key = await server.makeKey(ours, keyPermissions);
  const ask = async (more: Record<string, string> = {}, { url = LIST, method }: Asked = {}) =>
    server.app.inject({
      method: method ?? "GET",
      url,
      headers: { "x-api-key": key, authorization: `Bearer ${key}`, ...more },
    });
  return { server, animals, ask };
}

const GZIP = { "accept-encoding": "br, gzip;q=0.5" };

test("a client that takes gzip gets a list as the same content in fewer bytes, under an ETag of its own", async () => {
  const { ask } = await world();
  const plain = await ask();
  expect(plain.headers["content-encoding"]).toBe(undefined);
  for (const round of ["made", "cached"]) {
    const packed = await ask(GZIP);
    expect([round, packed.statusCode, packed.headers["content-encoding"]]).toEqual([round, 200, "gzip"]);
    expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true);
    expect(packed.rawPayload.length * 4).toBeLessThan(plain.rawPayload.length);
    expect(packed.headers["content-length"]).toBe(String(packed.rawPayload.length));
    expect(packed.headers["content-type"]).toBe(plain.headers["content-type"]);
    expect(packed.headers["etag"]).not.toBe(plain.headers["etag"]);
    const etag = String(packed.headers["etag"]);
    expect((await ask({ ...GZIP, "if-none-match": etag })).statusCode).toBe(304);
    expect((await ask({ "if-none-match": etag })).statusCode).toBe(200);
    const head = await ask(GZIP, { method: "HEAD" });
    const lengths = ["content-length", "content-encoding", "etag", "vary"].map((name) => head.headers[name]);
    expect([head.rawPayload.length, ...lengths]).toEqual([
      ...[0, String(packed.rawPayload.length), "gzip", etag],
      expect.stringContaining("Accept-Encoding"),
    ]);
  }
});

test.each(["gzip;q=0", "gzip; q=0.000, *", "br", "identity", "*;q=0", "GZIP;Q=0"])(
  "a client that asks for %s gets plain bytes",
  async (wanted) => {
    const { ask } = await world();
    expect((await ask({ "accept-encoding": wanted })).headers["content-encoding"]).toBe(undefined);
  },
);

test("a short response is not compressed", async () => {
  const { ask, animals } = await world();
  const { headers } = await ask(GZIP, { url: `/api/v1/patients/${animals[0]?.fp}` });
  expect([headers["content-encoding"], headers["etag"]]).toEqual([undefined, expect.any(String)]);
});
