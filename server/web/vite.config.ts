import { defineConfig } from "vite";

// `npm run build` makes the pages in dist/server/web, where the server finds them.

export default defineConfig({
  root: import.meta.dirname,
  base: "/dashboard/",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../../dist/server/web",
    emptyOutDir: true,
    // Inline assets would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
