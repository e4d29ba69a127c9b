import { marked } from "marked";
import { defineConfig, type Plugin } from "vite";

// `npm run build` makes the pages in dist/server/web, where the server finds them.

/** Makes a module with `title` and `html` out of a Markdown file. The files are our own, so their HTML is trusted. */
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

export default defineConfig({
  root: import.meta.dirname,
  base: "/dashboard/",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [markdown()],
  build: {
    outDir: "../../dist/server/web",
    emptyOutDir: true,
    // Inline assets would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
