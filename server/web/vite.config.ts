import { marked } from "marked";
import { defineConfig, type Plugin } from "vite";

// `npm run build` makes the pages in dist/server/web, where server and agent find them: index.html is the dashboard,
// local-app/index.html the page of the agent.

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
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [markdown()],
  build: {
    outDir: "../../dist/server/web",
    emptyOutDir: true,
    // Inline assets would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: ["index.html", "local-app/index.html"].map((file) => `${import.meta.dirname}/${file}`),
    },
  },
});
