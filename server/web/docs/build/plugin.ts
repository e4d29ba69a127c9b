import fs from "node:fs";
import path from "node:path";
import type { Plugin } from "vite";
import { makeSite, type Sources } from "./site.ts";

/** Makes the pages of the documentation out of `docs/index.html`, which vite fills with their script and style. */
export function documentation(root: string): Plugin {
  const template = "docs/index.html";
  return {
    name: "documentation",
    enforce: "post",
    generateBundle(_, files) {
      const page = files[template];
      if (page?.type !== "asset") throw new Error(`expected ${template} of vite`);
      delete files[template];
      const store = (name: string, source: string | Uint8Array) =>
        `/${this.getFileName(this.emitFile({ type: "asset", name, source }))}`;
      const image = (file: string) => store(path.basename(file), fs.readFileSync(path.join(root, file)));
      const index = (content: object) => store("docs-index.json", JSON.stringify(content));
      for (const [fileName, source] of makeSite(readSources(root), String(page.source), { image, index }))
        this.emitFile({ type: "asset", fileName, source });
    },
  };
}

/** Reads every README and help page, and the other documents of the project. */
export function readSources(root: string): Sources {
  const patterns = [
    ...["README.md", "CHANGELOG.md", "{agent,server,shared,test}/**/*.md"],
    ...[".github/{CONTRIBUTING,SECURITY,THREATS}.md", ".github/adr/*.md"],
  ];
  const files = patterns.flatMap((pattern) => fs.globSync(pattern, { cwd: root }));
  const read = (file: string) => fs.readFileSync(path.join(root, file), "utf8");
  const { homepage, version } = JSON.parse(read("package.json")) as { homepage: string; version: string };
  return {
    texts: new Map(files.map((file) => [file.replaceAll("\\", "/"), read(file)])),
    exists: (file) => fs.existsSync(path.join(root, file)),
    homepage,
    version,
  };
}
