/** The help pages in the order of the menu. Each is a Markdown file in `server/web/help/en` and `server/web/help/tr`. */
export const helpPages = [
  "first-steps",
  "animals",
  "results",
  "flags",
  "placing",
  "orders",
  "unknown-codes",
  "import",
  "manual-study",
  "records",
  "stock",
  "silent-devices",
  "updates",
  "api-keys",
  "webhooks",
  "connection",
] as const;
