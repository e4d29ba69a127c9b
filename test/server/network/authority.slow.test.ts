import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { issueCertificate, makeAuthority } from "../../../server/network/authority.ts";
import { temporaryFolder } from "../harness.ts";

// Method: OpenSSL, a foreign reader, judges what the server issues.

const DAY_MS = 86_400_000;
const own = { names: ["clinic-pc", "clinic-pc.local"], addresses: ["192.168.1.20", "fd00::20", "198.51.100.4"] };

function openssl(...args: readonly string[]): string {
  try {
    return execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

function issued(names = [...own.addresses, ...own.names]) {
  const folder = temporaryFolder();
  const files = {
    ca: path.join(folder, "ca.pem"),
    key: path.join(folder, "ca.key"),
    leaf: path.join(folder, "leaf.pem"),
  };
  const now = Date.now();
  const authority = makeAuthority(own, now);
  const leaf = issueCertificate(authority, names, now);
  fs.writeFileSync(files.ca, authority.certificate);
  fs.writeFileSync(files.key, authority.key);
  fs.writeFileSync(files.leaf, leaf.cert);
  return { folder, files, now, authority, leaf: new X509Certificate(leaf.cert) };
}

test("OpenSSL takes the certificate for each of its names, under its strictest rules, and for no other name", () => {
  const { files } = issued();
  const verify = (...name: string[]) =>
    openssl("verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", files.ca, ...name, files.leaf);
  for (const name of own.names) expect(verify("-verify_hostname", name)).toMatch(/: OK\n$/);
  for (const address of own.addresses) expect(verify("-verify_ip", address)).toMatch(/: OK\n$/);
  expect(verify("-verify_hostname", "other.local")).toContain("hostname mismatch");
  expect(verify("-verify_ip", "192.168.1.21")).toContain("IP address mismatch");
});

test("a certificate is valid for at most 397 days and on P-256, and a clock that is two days late takes it", () => {
  const { leaf, now, authority } = issued();
  const [from, to] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
  expect((to - from) / DAY_MS).toBeLessThanOrEqual(397);
  expect(from).toBeLessThanOrEqual(now - 2 * DAY_MS + 1000);
  expect(leaf.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
  expect(new X509Certificate(authority.certificate).publicKey.asymmetricKeyDetails).toEqual({
    namedCurve: "prime256v1",
  });
});

test("the key of the authority makes no certificate for a bank or another public address", () => {
  const { folder, files } = issued();
  const forged = path.join(folder, "forged.pem");
  const forge = (name: string) => {
    const key = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-keyout",
      path.join(folder, "x"),
    ];
    const made = ["-CA", files.ca, "-CAkey", files.key, "-addext", `subjectAltName=${name}`, "-out", forged];
    openssl("req", "-x509", ...key, "-days", "1", "-subj", "/CN=forged", ...made);
    return openssl("verify", "-CAfile", files.ca, forged);
  };
  expect(forge("DNS:bank.example")).toContain("permitted subtree violation");
  expect(forge("DNS:clinic-pc.example")).toContain("permitted subtree violation");
  expect(forge("IP:8.8.8.8")).toContain("permitted subtree violation");
  expect(forge("IP:198.51.100.5")).toContain("permitted subtree violation");
  expect(forge("DNS:other.local")).toMatch(/: OK\n$/);
});

test("names that the authority may not certify are left out, so that they spoil no other name", () => {
  const { leaf } = issued(["192.168.1.20", "clinic-pc.local", "renamed", "www.example.com", "8.8.8.8", "2001:db8::1"]);
  expect(leaf.subjectAltName).toBe("IP Address:192.168.1.20, DNS:clinic-pc.local");
});

test("two servers of one network have authorities with two names", () => {
  const [one, other] = [makeAuthority(own, Date.now()), makeAuthority(own, Date.now())];
  const subject = (pem: string) => new X509Certificate(pem).subject;
  expect(subject(one.certificate)).toMatch(/^CN=Vetwire clinic-pc [\da-f]{6}$/);
  expect(subject(one.certificate)).not.toBe(subject(other.certificate));
});
