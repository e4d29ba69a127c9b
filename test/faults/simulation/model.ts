import fs from "node:fs";
import { imageFile } from "../../../agent/imaging/files/image-folder.ts";
import { instanceUid, measuredAt, type Message } from "./devices.ts";
import type { Disk } from "./disk.ts";
import { altOf, NO_ALT, PATIENTS, type PushedStudy, type SimulatedServer } from "./server.ts";

// The promises as a model: what the acknowledged messages must have become.

export class Model {
  readonly #disk: Disk;
  readonly #server: SimulatedServer;
  /** The fps under which each measurement was pushed. */
  readonly #fps = new Map<string, Set<string>>();

  constructor(disk: Disk, server: SimulatedServer) {
    this.#disk = disk;
    this.#server = server;
  }

  pushed(studies: readonly PushedStudy[]): void {
    for (const { fp, dedupe_key } of studies) {
      this.#fps.set(dedupe_key, (this.#fps.get(dedupe_key) ?? new Set()).add(fp));
    }
  }

  /** Compares the world with what its devices sent. The server fails at the message `stuck`, so that one may wait. */
  problems(messages: readonly Message[], stuck: number | null, isRestarted: boolean): string[] {
    if (!this.#disk.isOpen) return ["the agent does not run"];
    const unfinished = this.#unfinished(stuck, isRestarted);
    if (unfinished.length > 0) return unfinished;
    return [
      ...this.#orderProblems(),
      ...this.#fpProblems(),
      ...this.#studyProblems(
        messages.filter(({ isControl }) => !isControl),
        stuck,
      ),
      ...this.#controlProblems(messages.filter(({ isControl }) => isControl)),
      ...this.#imageProblems(messages.filter(({ isImage }) => isImage)),
    ];
  }

  /** P4, P5: everything ends in a state, and one study that is stuck holds back no other. */
  #unfinished(stuck: number | null, isRestarted: boolean): string[] {
    const { db } = this.#disk;
    const count = (sql: string) => db.prepare(sql).pluck().get() as number;
    const queued = db.prepare("SELECT body FROM study WHERE state = 'queued'").pluck().all() as string[];
    const waiting = queued.map((body) => altOf((JSON.parse(body) as PushedStudy).results));
    const unread = count("SELECT COUNT(*) FROM message WHERE processed_at IS NULL");
    const pending = count("SELECT COUNT(*) FROM message WHERE state = 'pending'");
    const controls = count("SELECT COUNT(*) FROM quality_record WHERE state <> 'stored' AND kind = 'control'");
    const images = count("SELECT COUNT(*) FROM pending_image_study");
    const sessions = count("SELECT COUNT(*) FROM session WHERE finished_at IS NULL");
    return [
      ...waiting.filter((number) => number !== stuck).map((number) => `the study of message ${number} is not sent`),
      ...(unread > 0 ? [`${unread} messages are not read`] : []),
      ...(pending > 0 && waiting.length === 0 ? [`${pending} messages are in no final state`] : []),
      ...(controls > 0 ? [`${controls} controls are not stored`] : []),
      ...(images > 0 ? [`${images} studies of images are not read`] : []),
      // A full disk may refuse to finish a session, and the next start does it.
      ...(sessions > 0 && isRestarted ? [`${sessions} sessions are not finished`] : []),
    ];
  }

  /** P4: the messages of each device were filed in the order in which it sent them. */
  #orderProblems(): string[] {
    const bodies = this.#disk.db.prepare("SELECT body FROM study ORDER BY rowid").pluck().all() as string[];
    const problems: string[] = [];
    const last = new Map<string, number>();
    const seen = new Set<number>();
    for (const body of bodies) {
      const { source, results } = JSON.parse(body) as PushedStudy;
      const [number, before] = [altOf(results), last.get(source.device_id) ?? 0];
      if (number < 0) continue; // of images
      if (seen.has(number)) continue; // a later revision, once its patient is known
      seen.add(number);
      if (number < before) problems.push(`${source.device_id}: message ${number} was filed after ${before}`);
      last.set(source.device_id, Math.max(before, number));
    }
    return problems;
  }

  /** P3: every push of a measurement has the same fp. */
  #fpProblems(): string[] {
    return [...this.#fps].filter(([, fps]) => fps.size > 1).map(([key]) => `${key} was pushed under several fps`);
  }

  /** P1, P2, P3, P7: the server has one study for each measurement, with the last value and the right patient. */
  #studyProblems(messages: readonly Message[], stuck: number | null): string[] {
    const expected = new Map<number, { readonly alt: number; readonly patient: string | null }>();
    for (const { measurement, number, patient, isImage } of messages) {
      const isKnown = (PATIENTS as readonly string[]).includes(patient);
      expected.set(measuredAt(measurement), { alt: isImage ? NO_ALT : number, patient: isKnown ? patient : null });
    }
    const problems: string[] = [];
    const seen = new Set<number>();
    for (const { acquiredAt, alt, patient } of this.#server.studies()) {
      const wanted = expected.get(acquiredAt);
      if (wanted === undefined) problems.push(`a study of ${acquiredAt} that nobody sent`);
      else if (seen.has(acquiredAt)) problems.push(`message ${wanted.alt} is filed twice`);
      else if (wanted.alt === stuck) continue;
      else if (wanted.alt !== alt) problems.push(`message ${wanted.alt} is filed as ${alt}`);
      else if (wanted.patient !== patient)
        problems.push(`message ${alt} is filed for ${patient}, not ${wanted.patient}`);
      seen.add(acquiredAt);
    }
    for (const [acquiredAt, { alt }] of expected) {
      if (!seen.has(acquiredAt) && alt !== stuck) problems.push(`message ${alt} was acknowledged and is lost`);
    }
    return problems;
  }

  /** P1, P3: the server has each control once, and no study of it; see studyProblems. */
  #controlProblems(messages: readonly Message[]): string[] {
    const stored = this.#server.controls();
    const lost = messages.filter(({ measurement }) =>
      stored.every(({ measuredAt: at }) => at !== measuredAt(measurement)),
    );
    const sent = new Map(messages.map(({ measurement, number }) => [measuredAt(measurement), number]));
    const seen = new Set<number>();
    const wrong = stored.filter(({ measuredAt: at, value }) => {
      const isWrong = sent.get(at) !== value || seen.has(at);
      seen.add(at);
      return isWrong;
    });
    return [
      ...lost.map(({ number }) => `the control ${number} was acknowledged and is lost`),
      ...wrong.map(({ value }) => `the control ${value} is stored twice, or nobody sent it`),
    ];
  }

  /** P1, P2, P4: each image is there once with every byte, in the order of its device, waits for the archive and made a study. */
  #imageProblems(messages: readonly Message[]): string[] {
    const rows = this.#disk.db
      .prepare(
        `SELECT i.sop_instance_uid AS uid, i.message, i.file_bytes AS bytes, m.state, m.reason, m.device,
           (SELECT COUNT(*) FROM forward f WHERE f.message = i.message) AS forwards
         FROM instance i JOIN message m ON m.id = i.message ORDER BY m.ordinal`,
      )
      .all() as ImageRow[];
    const problems = rows.flatMap(({ uid, message, bytes, state, reason, forwards }) => {
      const size = fs.statSync(imageFile(this.#disk.folder, message), { throwIfNoEntry: false })?.size ?? 0;
      return [
        ...(size === bytes ? [] : [`the file of image ${uid} has ${size} bytes, expected ${bytes}`]),
        ...(state === "filed" || state === "unmatched" ? [] : [`image ${uid} is ${state}: ${reason}`]),
        ...(forwards === 1 ? [] : [`image ${uid} is ${forwards} times in the queue of the archive`]),
      ];
    });
    for (const device of new Set(messages.map((message) => message.device))) {
      const sent = messages.filter((message) => message.device === device).map(instanceUid);
      const stored = rows.filter((row) => row.device === device).map(({ uid }) => uid);
      if (stored.join() !== sent.join()) problems.push(`${device} sent ${sent.join()}, and ${stored.join()} is stored`);
    }
    return problems;
  }
}

interface ImageRow {
  readonly uid: string;
  readonly message: string;
  readonly bytes: number;
  readonly state: string;
  readonly reason: string | null;
  readonly device: string;
  readonly forwards: number;
}
