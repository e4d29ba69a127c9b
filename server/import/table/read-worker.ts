import { parentPort, workerData } from "node:worker_threads";
import type { FileChoices } from "../../dashboard/types/file-import.ts";
import { readTable } from "./read-table.ts";
import { readItems } from "./rows.ts";
import type { FileAnswer, FileRequest } from "./read-thread.ts";

// Thread that reads one file (see read-thread.ts): it stays busy for seconds, and an Excel file may need much memory.

const { bytes, choices, now } = workerData as { bytes: Uint8Array; choices: FileChoices; now: number };

const table = await readTable(bytes, choices);
const items = "fault" in table ? null : readItems(table, now);
const send = (answer: FileAnswer) => parentPort?.postMessage(answer);

parentPort?.on("message", ({ from, to, isRaw }: FileRequest) => {
  if (isRaw === true) send({ records: "fault" in table ? [] : table.rows.slice(from, to) });
  else send({ items: items?.items(from, to) ?? [] });
});
send("fault" in table ? table : { reading: table.reading });
