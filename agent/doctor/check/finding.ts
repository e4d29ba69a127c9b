import type { Finding } from "../../page/types/doctor.ts";

// Makes the findings of checks.

export function ok(id: string, sentence: string): Finding {
  return { id, status: "ok", sentence, remedy: null };
}

export function skipped(id: string, sentence: string): Finding {
  return { id, status: "skipped", sentence, remedy: null };
}

export function warning(id: string, sentence: string, remedy: string): Finding {
  return { id, status: "warning", sentence, remedy };
}

export function problem(id: string, sentence: string, remedy: string): Finding {
  return { id, status: "problem", sentence, remedy };
}
