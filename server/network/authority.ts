import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIP, isIPv4 } from "node:net";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  NameConstraints,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";
import type { Certificate as ServedCertificate } from "../http/certificate.ts";
import { localSuffixes } from "../../shared/network/network-address.ts";
import { isLocalAddress, localNetworks, type OwnNames } from "./local-names.ts";

// The certificate authority of one server, and the certificates that it issues for it (RFC 5280). Node reads X.509 and does not
// write it.

/** A certificate with its private key, as PEM. */
export interface Authority {
  readonly certificate: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 20 * 365;
/** The server renews it by itself. Browsers take at most 398 days, Apple 825 of an authority that a person added (HT210176). */
const LEAF_DAYS = 90;
/** A phone whose clock is late must not refuse a certificate that was made this minute. */
const BACKDATED_DAYS = 2;

const COMMON_NAME = "2.5.4.3";
const ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";

/**
 * Makes an authority. Its certificate permits names of the clinic's network alone (RFC 5280 §4.2.1.10) and servers alone, so that
 * somebody who steals its key cannot pretend to be a bank. A network may use public IPv4 addresses, so this machine's own are permitted.
 */
export function makeAuthority({ names, addresses }: OwnNames, now: number): Authority {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  // Two authorities of one network need two names: the number distinguishes them in the lists of a browser.
  const name = nameOf(`Vetwire ${names[0] ?? ""} ${randomBytes(3).toString("hex")}`);
  const ownPublic = addresses.filter((each) => isIPv4(each) && !isLocalAddress(each)).map((each) => `${each}/32`);
  const permitted = [
    ...[...names.slice(0, 1), ...localSuffixes].map((dNSName) => new GeneralName({ dNSName })),
    ...[...localNetworks, ...ownPublic].map((iPAddress) => new GeneralName({ iPAddress })),
  ].map((base) => new GeneralSubtree({ base }));
  return {
    certificate: certify(
      { subject: name, publicKey, days: AUTHORITY_DAYS, now },
      { issuer: name, publicKey, key: privateKey },
      [
        extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: true, pathLenConstraint: 0 })),
        extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.keyCertSign)),
        extension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_serverAuth])),
        extension(
          id_ce_nameConstraints,
          true,
          new NameConstraints({ permittedSubtrees: new GeneralSubtrees(permitted) }),
        ),
      ],
    ),
    key: pemOf(privateKey),
  };
}

/** Issues a certificate for these host names and addresses, with a new key. Names that the authority may not certify are left out. */
export function issueCertificate(authority: Authority, names: readonly string[], now: number): ServedCertificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = new X509Certificate(authority.certificate);
  const { subject: issuer, extensions = [] } = AsnConvert.parse(signer.raw, Certificate).tbsCertificate;
  const permitted = permittedNames(extensions);
  const isPermitted = (name: string) =>
    isIP(name) === 0
      ? permitted.some((suffix) => `.${name}`.toLowerCase().endsWith(`.${suffix}`.toLowerCase()))
      : isLocalAddress(name) || permitted.includes(`${name}/32`);
  const leaf = certify(
    { subject: nameOf("Vetwire server"), publicKey, days: LEAF_DAYS, now },
    { issuer, publicKey: signer.publicKey, key: createPrivateKey(authority.key) },
    [
      extension(id_ce_basicConstraints, true, new BasicConstraints()),
      extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.digitalSignature)),
      extension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_serverAuth])),
      extension(id_ce_subjectAltName, false, new SubjectAlternativeName(names.filter(isPermitted).map(generalName))),
    ],
  );
  return { cert: Buffer.from(leaf + authority.certificate), key: Buffer.from(pemOf(privateKey)) };
}

interface Subject {
  readonly subject: Name;
  readonly publicKey: KeyObject;
  readonly days: number;
  readonly now: number;
}

interface Signer {
  readonly issuer: Name;
  readonly publicKey: KeyObject;
  readonly key: KeyObject;
}

/** Signs a certificate. @returns PEM */
function certify({ subject, publicKey, days, now }: Subject, signer: Signer, extensions: Extension[]): string {
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const notBefore = new Date(now - BACKDATED_DAYS * DAY_MS);
  const serial = randomBytes(16);
  // A serial number is positive (RFC 5280 §4.1.2.2).
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: exactBuffer(serial),
    signature: algorithm,
    issuer: signer.issuer,
    validity: new Validity({ notBefore, notAfter: new Date(notBefore.getTime() + days * DAY_MS) }),
    subject,
    subjectPublicKeyInfo: publicKeyInfo(publicKey),
    extensions: new Extensions([
      ...extensions,
      extension(id_ce_subjectKeyIdentifier, false, new SubjectKeyIdentifier(keyId(publicKey))),
      extension(
        id_ce_authorityKeyIdentifier,
        false,
        new AuthorityKeyIdentifier({ keyIdentifier: new SubjectKeyIdentifier(keyId(signer.publicKey)) }),
      ),
    ]),
  });
  const signatureValue = exactBuffer(sign("sha256", Buffer.from(AsnConvert.serialize(tbsCertificate)), signer.key));
  const der = AsnConvert.serialize(new Certificate({ tbsCertificate, signatureAlgorithm: algorithm, signatureValue }));
  return new X509Certificate(Buffer.from(der)).toString();
}

function permittedNames(extensions: Iterable<Extension>): string[] {
  const found = Array.from(extensions).find(({ extnID }) => extnID === id_ce_nameConstraints);
  const { permittedSubtrees = [] } =
    found === undefined ? {} : AsnConvert.parse(found.extnValue.buffer, NameConstraints);
  return Array.from(permittedSubtrees, ({ base }) => base.dNSName ?? base.iPAddress ?? []).flat();
}

function generalName(name: string): GeneralName {
  return new GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name });
}

function nameOf(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

function extension(extnID: string, critical: boolean, value: object): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function publicKeyInfo(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(key.export({ type: "spki", format: "der" }), SubjectPublicKeyInfo);
}

/** The SHA-1 of the key's bits (RFC 5280 §4.2.1.2, method 1): a name, and not a proof. */
function keyId(key: KeyObject): ArrayBuffer {
  const bits = Buffer.from(publicKeyInfo(key).subjectPublicKey);
  return exactBuffer(createHash("sha1").update(bits).digest());
}

/** A small Buffer is a part of a larger ArrayBuffer. */
function exactBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
