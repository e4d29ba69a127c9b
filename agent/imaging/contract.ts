import type { MessagePort } from "node:worker_threads";
import type { ImageLimits } from "../config/values/image-limits.ts";
import type { Encoding } from "../protocols/dicom/dataset.ts";
import type { DimseOutcome, DimseRequest } from "../protocols/dicom/dimse.ts";
import type { ServiceRequest } from "../protocols/dicom/network/scp.ts";
import type { NoiseRun } from "../protocols/link.ts";
import type { LineState } from "../states/line-state.ts";
import type { Address } from "../transport/address.ts";
import type { Security } from "../transport/tls.ts";
import type { RetentionResult } from "./retention.ts";

// The interface between the imaging thread and the main thread. Requests with pending responses and channels for event
// reports pass as numbers.

export interface DicomDevice {
  readonly id: string;
  readonly aeTitle: string;
  /** Allowed calling AE titles; empty for any. */
  readonly callingAeTitles: readonly string[];
  /** Idle time in milliseconds after which a study counts as complete. */
  readonly quietMs: number;
}

export interface ListeningDevice extends DicomDevice {
  readonly address: Address;
  /** Addresses and networks of allowed peers, as in listenTransport(). */
  readonly allow: readonly string[];
  readonly security: Security | null;
}

export interface DicomThreadOptions {
  readonly data: string;
  readonly images: ImageLimits;
  readonly devices: readonly ListeningDevice[];
  /** Number of all configured devices, which share the descriptors of the process. */
  readonly deviceCount: number;
}

export interface ImagingWorkerData extends DicomThreadOptions {
  /** Port from Spool.openPort(). */
  readonly spool: MessagePort;
}

export interface ImagingThreadFunctions {
  /** Settles when the device's port listens or cannot be opened; the transport then retries. */
  open(device: string): Promise<void>;
  close(device: string): Promise<void>;
  /** Sends a pending response of the request with that number (see PendingResponses). */
  sendPending(request: number, status: number, dataset: Uint8Array): Promise<boolean>;
  /** Sends an event report on the channel with that number (see ReportChannel). */
  report(channel: number, request: Omit<DimseRequest, "messageId">, dataset: Uint8Array): Promise<boolean>;
  /** See retention.ts. */
  removeOld(agreed: number | null): Promise<RetentionResult>;
  /** This machine's clock is that far ahead of the right time, in ms. */
  clockIsAhead(ms: number): void;
  /** Requires closed devices. */
  stop(): Promise<void>;
}

export interface MainThreadFunctions {
  handleRequest(device: string, request: ServiceRequest, number: number): Promise<DimseOutcome>;
  join(device: string, callingAe: string, encoding: Encoding, channel: number): void;
  leave(device: string, channel: number): void;
  wake(device: string): void;
  connected(device: string, peer: string): void;
  disconnected(device: string): void;
  stands(device: string, state: LineState): void;
  bytes(device: string, count: number): void;
  warning(device: string, reason: string, noise?: NoiseRun, peer?: string): void;
  refusal(device: string, reason: string): void;
  refused(device: string, address: string): void;
  stored(device: string, receivedAt: number): void;
  fault(device: string, error: unknown): void;
}
