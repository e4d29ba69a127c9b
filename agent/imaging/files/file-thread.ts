import { parentPort } from "node:worker_threads";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { type Header, readHeader } from "../../protocols/dicom/reports/header.ts";
import type { FileRequest } from "./file-process.ts";
import { type HeaderLocation, parseHeader } from "./parse-header.ts";
import { drawFile } from "./render-frame.ts";

// Thread of the file process that parses one header or draws one frame at a time.

export type HeaderResult = { readonly header: Header } | { readonly problem: string };

parentPort?.on("message", (request: FileRequest) => {
  parentPort?.postMessage("started"); // starts the time limit
  void resultOf(request).then((result) => parentPort?.postMessage(result));
});

async function resultOf(request: FileRequest) {
  return request.do === "draw" ? drawFile(request) : headerOf(request);
}

function headerOf(place: HeaderLocation): HeaderResult {
  try {
    return { header: parseHeader(place, readHeader) };
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}
