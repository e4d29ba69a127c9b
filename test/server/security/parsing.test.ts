import { describe, expect, test } from "vitest";
import { permissions } from "../../../server/http/auth/api-keys.ts";
import { jsonFault } from "../../../shared/schema/json-scan.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinic, connection, patient, startServer } from "../harness.ts";
import { ask, listen, messageOf } from "./wire.ts";

// Two programs that read one request in two ways let an attacker pass the check of the first. So the server takes each
// request in one way only, and refuses the others with their reason.

const ours = newFp("clinic");

async function start() {
  const animal = patient();
  const server = await startServer(clinic(ours), animal, connection(animal.fp, ours));
  const key = await server.makeKey(ours, [...permissions]);
  const admin = await makeUser(server, "admin", ours);
  const port = await listen(server.app);
  const headers = { "x-api-key": key, authorization: `Bearer ${key}` };
  return {
    fp: animal.fp,
    read: (path: string) => ask(port, { path, headers }),
    post: (body: string | Buffer, type?: string) =>
      ask(port, {
        method: "POST",
        path: "/agent/v1/studies",
        headers: { ...headers, ...(type && { "content-type": type }) },
        body,
      }),
    page: (path: string) => ask(port, { path: `/clinic/v1/clinics/${ours}${path}`, headers: { cookie: admin.cookie } }),
    change: (path: string, body: string) =>
      ask(port, {
        method: "PUT",
        path: `/clinic/v1/clinics/${ours}${path}`,
        headers: { cookie: admin.cookie, "sec-fetch-site": "same-origin", "content-type": "application/json" },
        body,
      }),
  };
}

describe("query parameters", () => {
  test("a parameter that is given twice, as a list or not as documented gets 400 with its name", async () => {
    const { read } = await start();
    for (const [query, expected] of [
      ["page=1&page=1", "page is 1,1, expected given once."],
      ["species=dog&species=cat", "species is dog,cat, expected given once."],
      ["page[]=1", "page is page[], expected given once, without brackets."],
      ["page%5B%5D=1", "page is page[], expected given once, without brackets."],
      ["species[0]=dog", "species is species[0], expected given once, without brackets."],
      ["updated_since[gte]=2026-11-21", "updated_since is updated_since[gte], expected given once, without brackets."],
      ...["1e3", "%201", "+1", "01", "1.0", "0x1", "-1", "", "1;page_size=2", "%2531", "%EF%BC%91"].map((page) => [
        `page=${page}`,
        /^page is .*, expected a whole number from 1 to 999999999\.$/,
      ]),
      ["updated_since=1e3", /^updated_since is 1e3, expected an ISO 8601 timestamp/],
      [`species=${"a".repeat(201)}`, /^species is a{64}, expected at most 200 characters\.$/],
    ] as const) {
      const answer = await read(`/api/v1/patients?${query}`);
      expect([query, answer.status]).toEqual([query, 400]);
      expect(messageOf(answer)).toMatch(expected);
    }
  });

  test("an unknown parameter is ignored and reported, also the name of a part of a JavaScript object", async () => {
    const { read } = await start();
    const plain = await read("/api/v1/patients");
    for (const name of ["__proto__", "constructor", "__proto__[page]", "Page", "page%00", "sort[]"]) {
      const { status, text, headers } = await read(`/api/v1/patients?${name}=2`);
      expect([name, status, text]).toEqual([name, 200, plain.text]);
      expect(headers["x-ignored-parameters"]).toBe(encodeURIComponent(decodeURIComponent(name)));
    }
  });

  test("an escaped parameter means what the plain one means, once", async () => {
    const { read } = await start();
    for (const query of ["page=2", "pag%65=2", "page=%32", "&&page=2&"]) {
      expect(JSON.parse((await read(`/api/v1/patients?${query}`)).text)).toMatchObject({
        data: { page: 2, items: [] },
      });
    }
  });

  test("a page of the dashboard takes no list either, and no unknown word", async () => {
    const { page } = await start();
    for (const path of [
      ...[
        "/unmatched?rejected=1&rejected=0",
        "/unmatched?rejected=true",
        "/unmatched?order=x",
        "/unmatched?order[]=newest",
      ],
      ...["/codes/analytes?device_id=a&device_id=b&code=x"],
      ...[
        "/patients?search=a&search=b",
        "/results?rows=1e2",
        "/results?after=1.2&after=1.3",
        "/audit?before=1&before=2",
      ],
      ...[
        `/patients?search=${"a".repeat(201)}`,
        `/results?device=${"a".repeat(201)}`,
        `/audit?text=${"%25_".repeat(101)}`,
      ],
    ]) {
      expect([path, (await page(path)).status]).toEqual([path, 400]);
    }
    for (const path of ["/unmatched?order=newest&rejected=1", "/patients?search=a"]) {
      const { status, headers } = await page(path);
      expect([path, status, headers["x-ignored-parameters"]]).toEqual([path, 200, undefined]);
    }
  });
});

describe("paths", () => {
  test("a path in another spelling is not a route, or names no record", async () => {
    const { fp, read } = await start();
    expect((await read(`/api/v1/patients/${fp}`)).status).toBe(200);
    for (const path of [
      ...[
        "/api/v1/patients;x=1",
        "/api/v1//patients",
        "/api/v1/./patients",
        "/api/v1/patients/../patients",
        "//x/api/v1/patients",
      ],
      ...[
        "/api/v1/patients/%2e%2e/patients",
        "/API/v1/patients",
        "/api/v1/patients%2F",
        "/api/v1/patients\\x",
        "/api%2Fv1/patients",
      ],
      ...[";x=1", "/", "%00", "%20", "%2F", "%252F", "/.", "?x=1/"].map((end) => `/api/v1/patients/x${fp}${end}`),
      ...[";x=1", "/", "%00", "%20", "%2F", "/."].map((end) => `/api/v1/patients/${fp}${end}`),
      `/api/v1/patients/${fp.toLowerCase()}`,
      `/api/v1/patients/${encodeURIComponent(encodeURIComponent(fp)).replace("_", "%255F")}`,
    ]) {
      expect([path, (await read(path)).status]).toEqual([path, 404]);
    }
  });
});

describe("bodies", () => {
  const empty = '{"studies":[]}';

  test("a charset that is UTF-8 or its part ASCII is taken, and any other one is refused with its name", async () => {
    const { post } = await start();
    for (const type of ["", ";charset=utf-8", '; charset="UTF-8"', "; charset=utf8", "; charset=us-ascii", "; x=y"]) {
      expect([type, (await post(empty, `application/json${type}`)).status]).toEqual([type, 200]);
    }
    for (const [charset, said] of [
      ...["utf-16", "utf-16le", "iso-8859-1", "utf-7", "x"].map((each) => [each, each] as const),
      ["utf-8; charset=utf-16", "utf-16"],
      ["utf-8; charset=us-ascii", "utf-8 and us-ascii"],
      ["", ""],
    ] as const) {
      const answer = await post(empty, `application/json; charset=${charset}`);
      expect([answer.status, messageOf(answer)]).toEqual([400, `The charset is ${said}, expected utf-8.`]);
    }
  });

  test("a byte that is not of the charset is refused, not stored as another character", async () => {
    const { post } = await start();
    const latin1 = Buffer.from('{"studies":[],"x":"\xe9"}', "latin1");
    const answer = await post(latin1, "application/json");
    expect([answer.status, messageOf(answer)]).toEqual([400, "The body is not UTF-8."]);
    const ascii = await post('{"studies":[],"x":"é"}', "application/json; charset=us-ascii");
    expect(messageOf(ascii)).toBe("The body is not us-ascii, as its charset says: send utf-8.");
    expect((await post('{"studies":[],"x":"é"}', "application/json")).status).toBe(200);
    expect((await post(Buffer.from(empty, "utf16le"), "application/json")).status).toBe(400);
  });

  test("another type, two types or none is refused", async () => {
    const { post } = await start();
    for (const type of [
      ...["text/json", "application/jsonx", "application/json+x", "application/json, text/plain"],
      ...["text/plain", "multipart/form-data", "application/x-www-form-urlencoded", undefined],
    ]) {
      const answer = await post(empty, type);
      expect([type, answer.status]).toEqual([type, 400]);
      expect(messageOf(answer)).toBe("The content type is not application/json.");
    }
  });

  test("a doubled name in an object is refused, also in another spelling and deep inside", async () => {
    const { post, change } = await start();
    for (const [body, name] of [
      ['{"studies":[],"studies":[]}', '"studies"'],
      ['{"studies":[],"st\\u0075dies":[]}', '"studies"'],
      ['{"studies":[{"a":[{"fp":1,"x":{"fp":2},"fp":3}]}]}', '"fp"'],
      ['{"a\\\\":1,"a\\\\":2,"studies":[]}', '"a\\\\"'],
    ]) {
      const answer = await post(body ?? "", "application/json");
      expect([answer.status, messageOf(answer)]).toEqual([400, `The body has a name twice in one object: ${name}.`]);
    }
    const answer = await change("/settings/clinic", '{"language":"en","language":"tr","time_zone":null}');
    expect(messageOf(answer)).toBe('The body has a name twice in one object: "language".');
  });

  test("a body that nests deeply is refused, and the same brackets within a text are not", async () => {
    const { post } = await start();
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const answer = await post(`${open.repeat(100_000)}1${close.repeat(100_000)}`, "application/json");
      expect([answer.status, messageOf(answer)]).toEqual([400, "The body nests values more than 32 deep."]);
    }
    expect((await post(`{"studies":[],"x":"${'[{\\"'.repeat(1000)}"}`, "application/json")).status).toBe(200);
  });

  test("a prototype in a body is a field like any other", async () => {
    const { post, change } = await start();
    for (const name of ["__proto__", "constructor"]) {
      expect((await post(`{"${name}":{"studies":[]}}`, "application/json")).status).toBe(400);
      const body = `{"language":"en","time_zone":null,"${name}":{"x":1}}`;
      const answer = await change("/settings/clinic", body);
      expect([answer.status, messageOf(answer)]).toEqual([400, `${name} is not expected.`]);
    }
    expect(({} as Record<string, unknown>)["x"]).toBe(undefined);
  });

  test("the response to a body that is not JSON repeats no part of it", async () => {
    const { post } = await start();
    for (const body of [
      '{"password":"hunter2",}',
      '{"password":"hunter2"',
      '{"password":hunter2}',
      "hunter2",
      "\u001b[31m",
    ]) {
      const { status, text } = await post(body, "application/json");
      expect(status).toBe(400);
      expect(text).not.toMatch(/unter2|\[31m/);
    }
  });

  test("the scan reads a body of 5 MB in a time that grows with its length", () => {
    const row = '{"analyte":"GLU","value":5.2,"unit":"mmol/L","note":"a \\"b\\" \\\\"}';
    const timeOf = (rows: number) => {
      const text = `{"results":[${Array.from({ length: rows }, () => row).join()}]}`;
      const begun = process.cpuUsage();
      expect(jsonFault(text, 2 + rows * 5)).toBe(null);
      return process.cpuUsage(begun).user / 1000;
    };
    timeOf(10_000);
    // A quadratic scan takes 100 times as long for ten times the text.
    expect(timeOf(70_000)).toBeLessThan(60 * Math.max(timeOf(7000), 2));
    const backslashes = `{"a":"${"\\".repeat(2_000_000)}"}`;
    expect(jsonFault(backslashes, 2)).toBe(null);
    expect(jsonFault(`{"a":"${'\\\\\\"'.repeat(500_000)}"}`, 2)).toBe(null);
  });
});
