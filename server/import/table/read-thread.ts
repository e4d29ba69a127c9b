import { Worker } from "node:worker_threads";
import { moduleFile } from "../../../shared/files/program-files.ts";
import { StoreUnavailable } from "../../database/query.ts";
import type { FileChoices, FileFault, FileReading } from "../../dashboard/types/file-import.ts";
import type { CsvRecord } from "../../../shared/files/table/csv-records.ts";
import { isZip } from "./read-table.ts";
import type { FileItem } from "./rows.ts";

// Reads a file in a thread of its own, so that the server goes on, and a file that unpacks or parses badly ends the thread alone.

/** Memory of the thread: of an Excel file, which unpacks to 200 MB at most, and of a CSV file by its size. */
const XLSX_MEMORY_MB = 1024;
const CSV_MEMORY_MB = 64;
const CSV_MEMORY_TIMES = 6;
/** Space of new objects. A larger one keeps more garbage. */
const YOUNG_MB = 8;
const TIME_MS_MAX = 60_000;
/** Files that are open at a time, and that wait, of all clinics: one of 200 kB may take all the memory of its thread. */
const [OPEN_MAX, WAITING_MAX] = [2, 20];
/** Files of one clinic that wait, so that others find room. */
const WAITING_OF_CLINIC_MAX = 5;

/** The clinics of the files that are open. */
const open: number[] = [];
const waiting: { readonly clinicId: number; readonly take: () => void }[] = [];

export interface FileRequest {
  readonly from: number;
  readonly to: number;
  /** Set for the cells as they are. */
  readonly isRaw?: true;
}

export type FileAnswer =
  | { readonly fault: FileFault }
  | { readonly reading: FileReading }
  | { readonly items: FileItem[] }
  | { readonly records: CsvRecord[] };

/** A file that was read, until it is closed. */
export interface OpenFile {
  readonly reading: FileReading;
  /** Returns the lines from a position on, without those from `to` on. */
  items(from: number, to: number): Promise<FileItem[]>;
  /** Returns the cells as the file has them. */
  records(from: number, to: number): Promise<CsvRecord[]>;
  close(): Promise<void>;
}

/** The clinic of a file with its choices, and the time in ms since 1970, which bounds the dates. */
export interface FileContext {
  readonly clinicId: number;
  readonly choices: FileChoices;
  readonly now: number;
}

/** Reads a file. @returns why it cannot be read @throws StoreUnavailable if many wait */
export async function openFile(
  bytes: Uint8Array,
  { clinicId, choices, now }: FileContext,
): Promise<OpenFile | { fault: FileFault }> {
  if (open.length < OPEN_MAX) open.push(clinicId);
  else await turn(clinicId);
  const worker = new Worker(moduleFile("server/import/table/read-worker"), {
    workerData: { bytes, choices, now },
    resourceLimits: { maxOldGenerationSizeMb: memoryOf(bytes), maxYoungGenerationSizeMb: YOUNG_MB },
  });
  worker.on("error", () => undefined); // the answer under way receives it too
  worker.once("exit", () => leave(clinicId));
  const close = async () => void (await worker.terminate());
  const first = await answerOf(worker).catch(
    (): FileAnswer => ({ fault: { code: "too_complex", line: null, value: "" } }),
  );
  if (!("reading" in first)) {
    await close();
    return { fault: "fault" in first ? first.fault : { code: "not_a_table", line: null, value: "" } };
  }
  const ask = async (request: FileRequest): Promise<FileAnswer> => {
    worker.postMessage(request);
    return answerOf(worker);
  };
  return {
    reading: first.reading,
    items: async (from, to) => {
      const answer = await ask({ from, to });
      return "items" in answer ? answer.items : [];
    },
    records: async (from, to) => {
      const answer = await ask({ from, to, isRaw: true });
      return "records" in answer ? answer.records : [];
    },
    close,
  };
}

/** Waits for the place of another file. @throws StoreUnavailable if many wait: an import goes on later */
async function turn(clinicId: number): Promise<void> {
  const own = waiting.filter((each) => each.clinicId === clinicId).length;
  if (waiting.length >= WAITING_MAX || own >= WAITING_OF_CLINIC_MAX) {
    throw new StoreUnavailable("many files are read at the moment");
  }
  await new Promise<void>((take) => void waiting.push({ clinicId, take }));
}

/** Passes the place on to the next one in line, first to one of a clinic without an open file. */
function leave(clinicId: number): void {
  open.splice(open.indexOf(clinicId), 1);
  const turnOf = waiting.findIndex((each) => !open.includes(each.clinicId));
  const [next] = waiting.splice(Math.max(turnOf, 0), 1);
  if (next === undefined) return;
  open.push(next.clinicId);
  next.take();
}

/** @returns MB. A bound close to what a file needs keeps V8 from letting garbage grow. */
function memoryOf(bytes: Uint8Array): number {
  if (isZip(bytes)) return XLSX_MEMORY_MB;
  return Math.ceil(CSV_MEMORY_MB + (CSV_MEMORY_TIMES * bytes.length) / (1024 * 1024));
}

/** @throws Error if the thread ends, or does not answer in time */
async function answerOf(worker: Worker): Promise<FileAnswer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      end();
      void worker.terminate();
      reject(new Error("the thread that reads the file did not answer in time"));
    }, TIME_MS_MAX);
    const answered = (answer: FileAnswer) => {
      end();
      resolve(answer);
    };
    const failed = (error: unknown) => {
      end();
      reject(error instanceof Error ? error : new Error("the thread that reads the file has ended"));
    };
    const end = () => {
      clearTimeout(timer);
      worker.off("message", answered).off("error", failed).off("exit", failed);
    };
    worker.once("message", answered).once("error", failed).once("exit", failed);
  });
}
