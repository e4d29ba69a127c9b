import fs from "node:fs";
import path from "node:path";
import { ROOT } from "../machine/processes.ts";

/** Copies the build into a folder, with a text of one chunk replaced. @returns the agent's program */
export function brokenBuild(folder: string, text: string, replacement: string): string {
  fs.cpSync(path.join(ROOT, "dist"), path.join(folder, "dist"), { recursive: true });
  fs.copyFileSync(path.join(ROOT, "package.json"), path.join(folder, "package.json"));
  fs.symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
  const chunks = path.join(folder, "dist/chunks");
  const files = fs.readdirSync(chunks).map((name) => path.join(chunks, name));
  const found = files.filter((file) => fs.readFileSync(file, "utf8").includes(text));
  const [file] = found;
  if (file === undefined || found.length > 1) throw new Error(`expected one chunk with ${text}, got ${found.length}`);
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(text, replacement));
  return path.join(folder, "dist/agent/main.js");
}
