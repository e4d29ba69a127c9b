/** The help pages in their order. Each is a Markdown file in `server/web/help/en` and in `server/web/help/tr`. */
export const helpPages = [
  "first-steps",
  "results",
  "flags",
  "placing",
  "orders",
  "unknown-codes",
  "manual-study",
  "records",
  "stock",
  "silent-devices",
  "updates",
  "api-keys",
  "webhooks",
  "connection",
] as const;
