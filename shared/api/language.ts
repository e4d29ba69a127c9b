/** The languages of the dashboard, the agent's page, mails and reports. */
export type Language = "en" | "tr";
