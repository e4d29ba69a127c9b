import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import { certificateWarning, readCertificate } from "../../../server/http/certificate.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { makeCertificates } from "../../support/peers/certificates.ts";
import { clinic, connection, patient, startServer, temporaryFolder } from "../harness.ts";

const ours = newFp("clinic");
const animal = patient();

/** A server with a certificate for 127.0.0.1, on a port. */
async function secureServer() {
  const folder = temporaryFolder();
  const { ca, agent } = makeCertificates(folder);
  const { store, pepper, clock, makeKey } = await startServer(clinic(ours), animal, connection(animal.fp, ours));
  const setupCode = { matches: () => true, end: () => undefined };
  const certificate = readCertificate(agent.certificate, agent.key);
  const app = buildApp(store, { pepper, now: () => clock.now, setupCode, certificate });
  onTestFinished(() => app.close());
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const trusted = readFileSync(ca);

  /** Sends a request over TLS. @returns status, headers and body */
  async function ask(path: string, headers: Record<string, string> = {}, body?: object) {
    const method = body === undefined ? "GET" : "POST";
    const sent = request(`${url}${path}`, {
      method,
      ca: trusted,
      // The name of the certificate, whatever Host the test sends.
      servername: "",
      checkServerIdentity: () => undefined,
      headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    });
    sent.end(body && JSON.stringify(body));
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    let text = "";
    for await (const part of response) text += String(part);
    return { status: response.statusCode, headers: response.headers, text };
  }

  return { url, app, ask, makeKey };
}

describe("a server with a certificate", () => {
  test("it serves API, pages and sessions over TLS, with a cookie that is bound to it", async () => {
    const { url, ask, makeKey } = await secureServer();
    expect(url).toMatch(/^https:/);
    const key = await makeKey(ours, ["clinic.patient.view"]);
    const record = await ask(`/api/v1/patients/${animal.fp}`, { "x-api-key": key });
    expect([record.status, record.text.includes(animal.fp)]).toEqual([200, true]);

    const setUp = { code: "x", name: "First admin", password: "a long password" };
    const started = await ask("/clinic/v1/set-up", {}, setUp);
    const [cookie = ""] = started.headers["set-cookie"] ?? [];
    expect([started.status, cookie]).toEqual([
      200,
      expect.stringMatching(/^__Host-vetwire=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/),
    ]);
    const session = await ask("/clinic/v1/session", { cookie: cookie.split(";")[0] ?? "" });
    expect(JSON.parse(session.text)).toMatchObject({ state: "signed in" });
    // A cookie without the prefix, as another host of the domain could set it, does not count.
    const tossed = await ask("/clinic/v1/session", { cookie: (cookie.split(";")[0] ?? "").replace("__Host-", "") });
    expect(JSON.parse(tossed.text)).toEqual({ state: "signed out" });
  });

  test("a name gets HSTS, and this machine's own names do not", async () => {
    const { ask } = await secureServer();
    const hsts = async (host: string) => (await ask("/dashboard", { host })).headers["strict-transport-security"];
    expect([await hsts("127.0.0.1:1"), await hsts("localhost"), await hsts("[::1]:1")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await hsts("vetwire.example:8443")).toBe("max-age=31536000");
  });

  test("plain HTTP at its port closes the connection and stops nothing", async () => {
    const { url, ask } = await secureServer();
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
      socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    );
    socket.on("error", () => undefined).resume();
    await once(socket, "close");
    expect((await ask("/healthz")).status).toBe(200);
  });
});

describe("the files of a certificate", () => {
  test("a fault names the option, the file and what is expected", () => {
    const folder = temporaryFolder();
    const { agent, device } = makeCertificates(folder);
    const [text, secret] = [join(folder, "text.pem"), join(folder, "encrypted.pem")];
    writeFileSync(text, "no PEM");
    execFileSync("openssl", ["pkcs8", "-topk8", "-in", agent.key, "-out", secret, "-passout", "pass:word"]);
    const fault = (cert: string, key: string) => {
      try {
        readCertificate(cert, key);
        return null;
      } catch (error) {
        return (error as Error).message.replaceAll(`${folder}/`, "");
      }
    };
    expect([
      fault(agent.certificate, agent.key),
      fault(join(folder, "missing.crt"), agent.key),
      fault(agent.certificate, join(folder, "missing.pem")),
      fault(text, agent.key),
      fault(agent.certificate, text),
      fault(agent.certificate, secret),
      fault(agent.certificate, device.key),
    ]).toEqual([
      null,
      "--tls-cert missing.crt: there is no such file",
      "--tls-key missing.pem: there is no such file",
      "--tls-cert text.pem holds no certificate: expected PEM",
      "--tls-key text.pem holds no private key: expected PEM",
      "--tls-key encrypted.pem is encrypted: expected one without a passphrase",
      "--tls-key device.pem is not the key of the certificate agent.crt: expected the key it was made with",
    ]);
  });

  test.skipIf(process.getuid?.() === 0)("a file of another user is refused as unreadable", () => {
    const { agent } = makeCertificates(temporaryFolder());
    chmodSync(agent.key, 0);
    expect(() => readCertificate(agent.certificate, agent.key)).toThrow(`may not use ${agent.key}: run this as`);
  });

  test("an expired, a not yet valid and a soon expiring certificate are a warning", () => {
    const { agent } = makeCertificates(temporaryFolder());
    const certificate = readCertificate(agent.certificate, agent.key);
    const [now, day] = [Date.now(), 86_400_000];
    expect([-2, 0, 2].map((days) => certificateWarning(certificate, now + days * day))).toEqual([
      expect.stringMatching(/^the certificate is valid from .*: compare this machine's clock$/),
      expect.stringMatching(/^the certificate expires at .*: renew it$/),
      expect.stringMatching(/^the certificate expired at .*: browsers and agents refuse it, renew it$/),
    ]);
  });
});
