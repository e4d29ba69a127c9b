import { parentPort } from "node:worker_threads";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { type Header, readHeader } from "../protocols/dicom/header.ts";
import { type HeaderLocation, parseHeader } from "./parse-header.ts";

// Thread that parses headers, so that a hostile header cannot block the agent. The caller sets a time limit.

export type HeaderRequest = HeaderLocation;
export type HeaderResult = { readonly header: Header } | { readonly problem: string };

parentPort?.on("message", (request: HeaderRequest) => {
  parentPort?.postMessage("started"); // starts the time limit
  let result: HeaderResult;
  try {
    result = { header: parseHeader(request, readHeader) };
  } catch (error) {
    result = { problem: errorMessage(error) };
  }
  parentPort?.postMessage(result);
});
