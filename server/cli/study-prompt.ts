import readline from "node:readline";
import { Modality } from "../../shared/api/study.ts";
import { printError } from "../../shared/cli/output.ts";
import { addResult, type ManualStudy } from "../domain/manual-study.ts";

/** Prompts for a study on the terminal, result by result. An invalid result is reported and not stored. */
export async function promptForStudy(): Promise<unknown> {
  const terminal = readline.promises.createInterface({ input: process.stdin, output: process.stderr });
  const lines = terminal[Symbol.asyncIterator]();
  const prompt = async (question: string) => {
    terminal.setPrompt(question);
    terminal.prompt();
    const next = await lines.next();
    return next.done === true ? "" : next.value.trim();
  };
  try {
    const modality = (await prompt(`modality (${Modality.enum.join(", ")}): `)).toUpperCase();
    const acquired_at =
      (await prompt("time of the sample (2026-11-21T09:30:00.000Z, empty: now): ")) || new Date().toISOString();
    const device_name = await prompt("device (empty: none): ");
    const results: ManualStudy["results"] = [];
    const entry = { modality: modality as Modality, acquired_at, device_name, measurements: [], ofImages: [] };
    for (;;) {
      const line = await prompt("analyte value unit (empty: done): ");
      if (line === "") break;
      const [analyte = "", value = "", ...unit] = line.split(/\s+/);
      const result = { analyte, value, unit: unit.join(" ") };
      const fault = addResult(entry, result);
      if (fault === null) results.push(result);
      else printError(`${fault.problem}: not stored`);
    }
    return { modality, acquired_at, ...(device_name !== "" && { device_name }), results };
  } finally {
    terminal.close();
  }
}
