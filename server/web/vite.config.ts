import fs from "node:fs";
import path from "node:path";
import { marked } from "marked";
import { defineConfig, type Plugin } from "vite";
import { documentation } from "./docs/build/plugin.ts";

// `npm run build` makes the pages in dist/server/web, where server and agent find them: index.html is the dashboard,
// operator-app/index.html the console of the operator, local-app/index.html the page of the agent, whose sources are in
// agent/page/web: vite writes no page from outside its root; docs/ the documentation.

const ROOT = path.join(import.meta.dirname, "../..");

/** Makes a module with `title` and `html` out of a Markdown file. The HTML is trusted, because the files are our own. */
function markdown(): Plugin {
  return {
    name: "markdown",
    transform(text, file) {
      if (!file.endsWith(".md")) return null;
      const title = /^# (.+)$/m.exec(text)?.[1];
      if (title === undefined) throw new Error(`${file}: expected a line with # and the title`);
      const html = marked.parse(text, { async: false });
      const code = `export const title = ${JSON.stringify(title)};\nexport const html = ${JSON.stringify(html)};\n`;
      return { code, moduleType: "js", map: null };
    },
  };
}

/** Lists the packages of node_modules in the pages in dist/pages.json. Our packages include their licenses. */
function carriedFiles(): Plugin {
  return {
    name: "carried-files",
    writeBundle(_, chunks) {
      const files = Object.values(chunks).flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
      const carried = files.filter((file) => file.includes("/node_modules/")).map((file) => path.relative(ROOT, file));
      fs.writeFileSync(path.join(ROOT, "dist/pages.json"), `${JSON.stringify(carried.toSorted(), null, 2)}\n`);
    },
  };
}

// Makes the build reproducible: in another environment vite writes paths of this machine into the files.
process.env["NODE_ENV"] = "production";

export default defineConfig({
  root: import.meta.dirname,
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [markdown(), carriedFiles(), documentation(ROOT)],
  build: {
    outDir: "../../dist/server/web",
    emptyOutDir: true,
    // Inline assets would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: ["index.html", "local-app/index.html", "operator-app/index.html", "docs/index.html"].map(
        (file) => `${import.meta.dirname}/${file}`,
      ),
    },
  },
});
