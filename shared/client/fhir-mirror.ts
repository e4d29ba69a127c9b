import { DatabaseSync } from "node:sqlite";

// Mirrors the patients, reports and results of a clinic into SQLite as FHIR resources. Run it every few minutes; each run fetches what
// changed. The key needs clinic.patient.view. What left the clinic is in GET /api/v1/changes; see mirror.ts.
//
//   VETWIRE_URL=https://vetwire.example.com VETWIRE_KEY=sk_live_... node fhir-mirror.ts fhir.db

interface Bundle {
  readonly meta: { readonly lastUpdated: string };
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly { readonly resource: { readonly resourceType: string; readonly id: string } }[];
}

const SEARCHES = ["Patient?", "DiagnosticReport?_include=DiagnosticReport:result&"];

/** Brings the file up to date. */
export async function mirrorFhir(
  file: string,
  { url, key }: { readonly url: string; readonly key: string },
): Promise<void> {
  const db = new DatabaseSync(file);
  db.exec(`
    create table if not exists resource (type text, id text, body text not null, primary key (type, id));
    create table if not exists since (search text primary key, time text not null);`);
  const put = db.prepare("insert or replace into resource values (?, ?, ?)");
  const keep = db.prepare("insert or replace into since values (?, ?)");
  const kept = db.prepare("select time from since where search = ?");

  async function get(address: string): Promise<Bundle> {
    for (;;) {
      const response = await fetch(address, { headers: { authorization: `Bearer ${key}` } });
      if (response.ok) return (await response.json()) as Bundle;
      if (response.status !== 429) throw new Error(`${response.status}: ${await response.text()}`);
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("retry-after") ?? 1)));
    }
  }

  try {
    for (const search of SEARCHES) {
      const since = kept.get(search)?.["time"] as string | undefined;
      let next: string | undefined =
        `${url}/fhir/R4/${search}_count=100${since === undefined ? "" : `&_lastUpdated=ge${since}`}`;
      while (next !== undefined) {
        const page: Bundle = await get(next);
        for (const { resource } of page.entry ?? [])
          put.run(resource.resourceType, resource.id, JSON.stringify(resource));
        next = page.link.find(({ relation }) => relation === "next")?.url;
        // The time from which on the last page lacks changes.
        if (next === undefined) keep.run(search, page.meta.lastUpdated);
      }
    }
  } finally {
    db.close();
  }
}

if (import.meta.main) {
  const { VETWIRE_URL: url = "http://127.0.0.1:8080", VETWIRE_KEY: key = "" } = process.env;
  await mirrorFhir(process.argv[2] ?? "fhir.db", { url, key });
}
