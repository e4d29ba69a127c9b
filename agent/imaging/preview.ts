import { ConfinedFiles } from "./files/confined-files.ts";
import type { Preview, PreviewRequest, PreviewResult } from "./files/render-frame.ts";

/** Time limit of a preview. The largest frames take some seconds. */
const TIME_MS_MAX = 20_000;

/** One for the program, because each drawing may take much memory. */
const pictures = new ConfinedFiles(TIME_MS_MAX);

/** Draws one frame of an instance. @throws FileFault if its drawing never ends, Error with the reason if there is no picture */
export async function drawPreview(request: PreviewRequest, signal?: AbortSignal, files = pictures): Promise<Preview> {
  const result = (await files.read({ do: "draw", ...request }, signal)) as PreviewResult;
  if ("problem" in result) throw new Error(result.problem);
  return result;
}
