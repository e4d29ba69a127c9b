import crypto from "node:crypto";
import type { Component } from "./components.ts";

// Describes what a package carries: as CycloneDX 1.6, and as the licenses of others. Both are functions of the components.

/** The subject of the bill. */
export interface Described {
  readonly version: string;
  readonly platform: string;
  /** Seconds since 1970. */
  readonly time: number;
}

/** Returns the CycloneDX document as JSON. The same components give the same text. */
export function cycloneDx({ version, platform, time }: Described, components: readonly Component[]): string {
  const ref = `vetwire@${version}-${platform}`;
  const purls = components.map(purlOf);
  const document = {
    version: 1,
    metadata: {
      timestamp: new Date(1000 * time).toISOString(),
      component: {
        ...{ type: "application", "bom-ref": ref, name: "vetwire", version },
        ...{ licenses: [{ license: { id: "Apache-2.0" } }] },
        properties: [{ name: "vetwire:platform", value: platform }],
      },
    },
    components: components.map(described),
    dependencies: [{ ref, dependsOn: purls }, ...purls.map((purl) => ({ ref: purl }))],
  };
  const head = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: serialNumber(JSON.stringify(document)),
  };
  return `${JSON.stringify({ ...head, ...document }, null, 2)}\n`;
}

/** Returns the text of THIRD_PARTY_LICENSES. */
export function licenseList(components: readonly Component[]): string {
  const parts = components.map(({ name, version, license, licenseTexts, sources }) => {
    const absent = `Its archive has no text of the license.${sources === "" ? "" : ` Its sources: ${sources}`}`;
    return [
      `${name} ${version} (${license ?? "see its text"})`,
      "",
      ...(licenseTexts.length > 0 ? licenseTexts : [absent]),
    ].join("\n");
  });
  const line = "=".repeat(80);
  return ["Vetwire carries these packages under their own licenses.", ...parts].join(`\n\n${line}\n\n`).concat("\n");
}

function described(component: Component): object {
  const { name, version, license, integrity, sources } = component;
  const [, group, own] = /^@([^/]+)\/(.+)$/.exec(name) ?? [];
  const [algorithm = "", hash = ""] = integrity.split(/-(.*)/s);
  return {
    ...{ type: "library", "bom-ref": purlOf(component) },
    ...(group === undefined ? { name } : { group: `@${group}`, name: own }),
    version,
    ...(license === null ? {} : { licenses: [licenseEntry(license)] }),
    hashes: [{ alg: algorithm.replace(/^sha(\d+)$/, "SHA-$1"), content: Buffer.from(hash, "base64").toString("hex") }],
    purl: purlOf(component),
    ...(sources === "" ? {} : { externalReferences: [{ type: "vcs", url: sources }] }),
  };
}

/** An expression joins identifiers by words; an identifier has no space. */
function licenseEntry(license: string): object {
  return /[ ()]/.test(license) ? { expression: license } : { license: { id: license } };
}

/** The address of a package across registries: `pkg:npm/%40fastify/static@9.3.0`. */
function purlOf({ name, version }: Component): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** Returns a UUID of version 8 (RFC 9562) out of the content. */
function serialNumber(content: string): string {
  const digest = crypto.createHash("sha256").update(content).digest("hex");
  const [a, b, c, d, e] = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    digest.slice(13, 16),
    digest.slice(17, 20),
    digest.slice(20, 32),
  ];
  return `urn:uuid:${a}-${b}-8${c}-a${d}-${e}`;
}
