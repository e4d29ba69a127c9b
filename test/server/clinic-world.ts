import assert from "node:assert/strict";
import { permissions } from "../../server/http/auth/api-keys.ts";
import type { CalendarEventLine, InventoryItemLine, SoapLine } from "../../server/import/lines.ts";
import { listKeys, revokeKey } from "../../server/records/clinics/keys.ts";
import { openStore } from "../../server/database/open.ts";
import type { Store } from "../../server/database/store.ts";
import { newFp } from "../../shared/api/fp.ts";
import type { PushedStudy, Study } from "../../shared/api/study.ts";
import { clinic, connection, importText, patient, published, startServer, study, type TestServer } from "./harness.ts";
import { event, item, publishedEvent, publishedItem, publishedSoap, soap } from "./records.ts";

/** One write: its kind, its subject, and whether another process makes it. */
export interface Write {
  what:
    | ("patient" | "delete" | "connect" | "disconnect" | "study" | "push" | "push again" | "soap" | "event" | "item")
    | ("make key" | "revoke key" | "wait");
  patient: number;
  clinic: number;
  record: number;
  value: number;
  elsewhere: boolean;
}

interface Key {
  text: string;
  id: string;
  clinic: number;
  expiresAt: number | null;
  revoked: boolean;
}

interface ModelStudy {
  shown: Study;
  /** Null while the study is unmatched. */
  patient: number | null;
  /** The revision of the agent that it shows; absent for an imported study. */
  pushed?: number;
  /** The patient whose deletion gave it back to the desk, until another change. */
  left?: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Three clinics on a server, and a model of their data. Each write goes to both, and each response is compared. */
export class ClinicWorld {
  readonly server: TestServer;
  readonly #elsewhere: Store;
  readonly #clinics: readonly string[];
  readonly #patients: ReturnType<typeof patient>[];
  readonly #connected = new Set<string>();
  readonly #studies = new Map<string, ModelStudy>();
  readonly #pushed: PushedStudy[] = [];
  readonly #soaps = new Map<string, SoapLine>();
  readonly #events = new Map<string, CalendarEventLine>();
  readonly #items = new Map<string, InventoryItemLine>();
  readonly #fps = { cds: [newFp("cds"), newFp("cds")], soap: [newFp("soap"), newFp("soap")] };
  readonly #eventFps = [newFp("calevt"), newFp("calevt")];
  readonly #itemFps = [newFp("invitem"), newFp("invitem")];
  readonly #keys: Key[] = [];
  readonly #etags = new Map<string, { etag: string; body: unknown }>();

  static async create(): Promise<ClinicWorld> {
    const clinics = [newFp("clinic"), newFp("clinic"), newFp("clinic")];
    const patients = ["dog", "cat", "dog"].map((species) => patient({ species }));
    const server = await startServer(
      clinics.map(clinic),
      patients,
      connection(patients[0]?.fp ?? "", clinics[0] ?? ""),
    );
    const world = new ClinicWorld(server, await openStore(server.database), clinics, patients);
    world.#connected.add("0 0");
    for (const number of clinics.keys()) await world.#makeKey(number, null);
    return world;
  }

  private constructor(
    server: TestServer,
    elsewhere: Store,
    clinics: readonly string[],
    patients: ReturnType<typeof patient>[],
  ) {
    this.server = server;
    this.#elsewhere = elsewhere;
    this.#clinics = clinics;
    this.#patients = patients;
  }

  async close(): Promise<void> {
    await this.#elsewhere.close();
  }

  async write(write: Write): Promise<void> {
    const { clock } = this.server;
    clock.now += 1000;
    const { record, value, elsewhere } = write;
    const store = elsewhere ? this.#elsewhere : this.server.store;
    const clinicFp = this.#clinics[write.clinic] ?? "";
    const patientFp = this.#patients[write.patient]?.fp ?? "";
    const put = async (line: object, ownerId: number | null = null) =>
      importText(store, JSON.stringify(line), clock.now, ownerId);
    switch (write.what) {
      case "patient":
      case "delete": {
        const line = patient({
          fp: patientFp,
          owner_customer_fp: this.#patients[write.patient]?.owner_customer_fp ?? "",
          name: `Name ${value}`,
          species: value % 2 === 0 ? "dog" : "cat",
          updated_at: iso(clock.now),
          deleted_at: write.what === "delete" ? iso(clock.now) : null,
        });
        const wasAlive = isAlive(this.#patients[write.patient]);
        await put(line);
        this.#patients[write.patient] = line;
        if (wasAlive !== isAlive(line)) this.#release(write.patient, wasAlive);
        break;
      }
      case "connect":
      case "disconnect": {
        const active = write.what === "connect";
        await put(connection(patientFp, clinicFp, active));
        const name = `${write.clinic} ${write.patient}`;
        // A change of a connection updates the patient.
        if (active !== this.#connected.has(name)) this.#patients[write.patient]!.updated_at = iso(clock.now);
        if (active) this.#connected.add(name);
        else this.#connected.delete(name);
        break;
      }
      case "study": {
        const shown = studyOf(this.#fps.cds[record] ?? "", patientFp, value);
        await put({ type: "study", ...shown });
        this.#studies.set(shown.fp, { shown, patient: write.patient });
        break;
      }
      case "push":
      case "push again":
        await this.#push(write, patientFp);
        break;
      case "soap": {
        const line = soap(patientFp, clinicFp, { fp: this.#fps.soap[record] ?? "", plan: `Plan ${value}` });
        const owner = this.#soaps.get(line.fp)?.performed_by_clinic_fp;
        await put(line, owner === undefined ? null : this.#clinics.indexOf(owner) + 1);
        this.#soaps.set(line.fp, line);
        break;
      }
      case "event": {
        const start_at = iso(Date.parse("2026-11-21T09:00:00.000Z") + (value % 40) * DAY_MS);
        const line = event(this.#events.get(this.#eventFps[record] ?? "")?.clinic_fp ?? clinicFp, {
          fp: this.#eventFps[record] ?? "",
          title: `Title ${value}`,
          start_at,
          end_at: start_at,
        });
        await put(line);
        this.#events.set(line.fp, line);
        break;
      }
      case "item": {
        const line = item(this.#items.get(this.#itemFps[record] ?? "")?.clinic_fp ?? clinicFp, {
          fp: this.#itemFps[record] ?? "",
          quantity_on_hand: value,
        });
        await put(line);
        this.#items.set(line.fp, line);
        break;
      }
      case "make key":
        await this.#makeKey(write.clinic, clock.now + (value % 48) * HOUR_MS);
        break;
      case "revoke key": {
        // The first key of each clinic stays, for reading.
        const key = this.#keys[this.#clinics.length + (value % Math.max(1, this.#keys.length - this.#clinics.length))];
        if (key === undefined) break;
        await store.transaction((session) => revokeKey(session, key.id, clock.now));
        key.revoked = true;
        break;
      }
      case "wait":
        clock.now += (value % 30) * HOUR_MS;
        break;
    }
  }

  /** Reads all data of every clinic, and tries each key. @returns the number of responses that equal the model's */
  async readAll(): Promise<number> {
    let right = 0;
    for (const key of this.#keys) {
      const dead = key.revoked || (key.expiresAt !== null && key.expiresAt <= this.server.clock.now);
      const { statusCode } = await this.#get(key.text, "/api/v1/inventory");
      assert.deepEqual([key.id, statusCode], [key.id, dead ? 401 : 200]);
    }
    for (const [number, key] of this.#keys.slice(0, this.#clinics.length).entries()) {
      for (const [url, expected] of this.#expected(number)) {
        const seen = this.#etags.get(`${number} ${url}`);
        const response = await this.#get(key.text, url, seen && { "if-none-match": seen.etag });
        const unchanged = response.statusCode === 304;
        const body = unchanged ? seen?.body : response.json<object>();
        right += 1;
        if (typeof expected === "number") {
          assert.deepEqual([url, response.statusCode], [url, expected]);
          continue;
        }
        assert.deepEqual([url, withoutRevisions(body)], [url, expected]);
        // Equal bodies have equal ETags at any time.
        const same = seen !== undefined && JSON.stringify(seen.body) === JSON.stringify(body);
        assert.deepEqual([url, response.statusCode], [url, same ? 304 : 200]);
        this.#etags.set(`${number} ${url}`, { etag: String(response.headers["etag"]), body });
      }
    }
    return right;
  }

  async #get(key: string, url: string, headers: Record<string, string> = {}) {
    return this.server.app.inject({
      url,
      headers: { "x-api-key": key, authorization: `Bearer ${key}`, ...headers },
    });
  }

  async #makeKey(number: number, expiresAt: number | null): Promise<void> {
    const text = await this.server.makeFreshKey(this.#clinics[number] ?? "", [...permissions], { expiresAt });
    const id = (await listKeys(this.server.store, number + 1)).at(-1)?.id ?? "";
    this.#keys.push({ text, id, clinic: number, expiresAt, revoked: false });
  }

  /** Pushes a study like the first clinic's agent: a new revision, or the last one again, which files an unmatched study. */
  async #push({ what, record, patient: number, value: sent }: Write, patientFp: string): Promise<void> {
    const last = this.#pushed[record];
    const again = what === "push again" && last !== undefined;
    const fp = last?.fp ?? newFp("cds");
    const { patient_fp: _, ...shown } = studyOf(fp, patientFp, sent);
    const next = study({
      ...shown,
      patient_fp: patientFp,
      dedupe_key: fp,
      revision: (last?.revision ?? 0) + 1,
    });
    const pushed = again ? last : next;
    this.#pushed[record] = pushed;
    await this.server.push(this.#keys[0]?.text ?? "", pushed);
    const stored = this.#studies.get(fp);
    const to = again ? this.#patients.findIndex((each) => each.fp === pushed.patient_fp) : number;
    // An agent moves no filed study, and a resend changes none.
    const isFiled = stored !== undefined && stored.patient !== null;
    if (isFiled && (stored.patient !== to || stored.pushed === pushed.revision)) return;
    const filedTo = this.#connected.has(`0 ${to}`) && isAlive(this.#patients[to]) ? to : null;
    if (filedTo === null && stored?.pushed === pushed.revision) return;
    const value = pushed.results[0]?.value ?? 0;
    this.#studies.set(fp, {
      shown: studyOf(fp, pushed.patient_fp ?? "", value),
      patient: filedTo,
      pushed: pushed.revision,
    });
  }

  /** The pushed studies of a deleted patient are unmatched until it comes back. */
  #release(number: number, isDeleted: boolean): void {
    for (const each of this.#studies.values()) {
      if (isDeleted && each.patient === number && each.pushed !== undefined) {
        each.patient = null;
        each.left = number;
      } else if (!isDeleted && each.left === number) {
        each.patient = number;
        delete each.left;
      }
    }
  }

  /** Returns the expected body, or status of the error, of every URL for a clinic. */
  *#expected(number: number): Generator<[url: string, expected: object | number]> {
    const mayRead = (index: number) => this.#connected.has(`${number} ${index}`);
    const listed = this.#patients
      .filter((each, index) => mayRead(index) && isAlive(each))
      .map(shownPatient)
      .toSorted((a, b) => (a.updated_at + a.fp < b.updated_at + b.fp ? 1 : -1));
    for (const [query, items] of [
      ["", listed],
      ["?species=dog", listed.filter(({ species }) => species === "dog")],
      ["?updated_since=2026-11-21", listed.filter(({ updated_at }) => updated_at >= "2026-11-21")],
    ] as const) {
      yield [`/api/v1/patients${query}`, { success: true, message: "OK", data: page(items) }];
    }
    for (const [index, line] of this.#patients.entries()) {
      const found = { success: true, message: "OK", data: shownPatient(line) };
      yield [`/api/v1/patients/${line.fp}`, isAlive(line) ? (mayRead(index) ? found : 403) : 404];
    }
    for (const [fp, { shown, patient: of }] of this.#studies) {
      const status = of === null || !isAlive(this.#patients[of]) ? 404 : mayRead(of) ? 200 : 403;
      yield [`/api/v1/lab/diagnostics/${fp}`, status === 200 ? { success: true, data: shown } : status];
    }
    for (const [fp, line] of this.#soaps) {
      const of = this.#patients.findIndex((each) => each.fp === line.patient_fp);
      const status = !isAlive(this.#patients[of]) ? 404 : mayRead(of) ? 200 : 403;
      yield [`/api/v1/soap/${fp}`, status === 200 ? { success: true, data: publishedSoap(line) } : status];
    }
    const clinicFp = this.#clinics[number];
    const today = Math.floor(this.server.clock.now / DAY_MS) * DAY_MS;
    const events = [...this.#events.values()]
      .filter(({ clinic_fp }) => clinic_fp === clinicFp)
      .filter(({ start_at }) => start_at >= iso(today) && start_at < iso(today + 30 * DAY_MS))
      .toSorted((a, b) => (a.start_at + a.fp < b.start_at + b.fp ? -1 : 1));
    yield ["/api/v1/calendar/events", events.map(publishedEvent)];
    const items = [...this.#items.values()]
      .filter(({ clinic_fp }) => clinic_fp === clinicFp)
      .toSorted((a, b) => (a.fp < b.fp ? -1 : 1));
    yield ["/api/v1/inventory", { success: true, data: page(items.map(publishedItem)) }];
  }
}

function isAlive(line: { deleted_at?: string | null } | undefined): boolean {
  return line !== undefined && (line.deleted_at ?? null) === null;
}

function shownPatient(line: ReturnType<typeof patient>) {
  return published(line);
}

function page(items: readonly object[]) {
  return { items, total: items.length, page: 1, page_size: 20, has_more: false };
}

/** Leaves out the numbers and times of revisions, which the model does not count. */
function withoutRevisions(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), function (name, value: unknown) {
    return name === "revision" || name === "corrected_at" ? undefined : value;
  });
}

function studyOf(fp: string, patient_fp: string, value: number): Study {
  const { modality, device_name, status, acquired_at } = study();
  const results = [{ analyte: "GLU", value, unit: "mmol/L", reference_range: null, flag: null }];
  return { fp, patient_fp, modality, device_name, status, acquired_at, results };
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}
