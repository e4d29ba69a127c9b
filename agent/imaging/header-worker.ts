import { parentPort } from "node:worker_threads";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { type Header, readHeader } from "../protocols/dicom/header.ts";
import { type HeaderPlace, parseHeader } from "./parse-header.ts";

// The thread that parses headers: what a hostile one does to the parser, it does here. Who asks sets a time limit.

export type HeaderRequest = HeaderPlace;
export type HeaderAnswer = { readonly header: Header } | { readonly problem: string };

parentPort?.on("message", (request: HeaderRequest) => {
  parentPort?.postMessage("begun"); // from now on the time limit holds
  let answer: HeaderAnswer;
  try {
    answer = { header: parseHeader(request, readHeader) };
  } catch (error) {
    answer = { problem: errorMessage(error) };
  }
  parentPort?.postMessage(answer);
});
