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

/**
 * Splits a sentence of the agent into what is wrong and what to do: `refused by 10.0.0.5:80: switch the device on`. A sentence
 * without advice gets `remedy`.
 */
export function splitAdvice(text: string, remedy: string): { readonly sentence: string; readonly remedy: string } {
  const at = text.lastIndexOf(": ");
  const [sentence, advice] = [text.slice(0, at), text.slice(at + 2)];
  // Without a space the first part is only the name of a port or an address, and the second one the error.
  return at < 0 || !sentence.includes(" ") ? { sentence: text, remedy } : { sentence, remedy: advice };
}
