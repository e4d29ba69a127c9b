import { concat } from "../bytes.ts";
import { evenText, hex, readUid } from "./bytes.ts";

// DIMSE command sets (PS3.7 §6.3, annex E): group 0000, always in Implicit VR Little Endian.

export const COMMAND = {
  cStoreRequest: 0x0001,
  cStoreResponse: 0x8001,
  cFindRequest: 0x0020,
  cEchoRequest: 0x0030,
  cEchoResponse: 0x8030,
  nEventReportRequest: 0x0100,
  nSetRequest: 0x0120,
  nActionRequest: 0x0130,
  nCreateRequest: 0x0140,
  cCancelRequest: 0x0fff,
} as const;

/** Status codes (PS3.4 table B.2-1, PS3.7 annex C). */
export const STATUS = {
  success: 0x0000,
  invalidAttributeValue: 0x0106,
  processingFailure: 0x0110,
  duplicateInstance: 0x0111,
  noSuchInstance: 0x0112,
  invalidInstance: 0x0117,
  classInstanceConflict: 0x0119,
  sopClassNotSupported: 0x0122,
  notAuthorized: 0x0124,
  noSuchAction: 0x0123,
  unrecognizedOperation: 0x0211,
  outOfResources: 0xa700,
  datasetMismatch: 0xa900,
  cannotUnderstand: 0xc000,
  cancelled: 0xfe00,
  pending: 0xff00,
  /** Pending, with unsupported keys in the query. */
  pendingWithoutSomeKeys: 0xff01,
} as const;

export interface Command {
  readonly field: number;
  readonly messageId: number;
  readonly messageIdRespondedTo: number;
  /** Affected SOP class, or the requested SOP class of N-SET and N-ACTION. */
  readonly affectedSopClass: string;
  readonly affectedSopInstance: string;
  /** Type of an event or an action. */
  readonly typeId: number;
  readonly hasDataset: boolean;
  readonly status: number;
  readonly comment: string;
}

/** Outcome of a request, for its response. */
export interface DimseOutcome {
  readonly status: number;
  /** Reason of a failure or warning; null without one. */
  readonly comment: string | null;
  /** UID of an instance that the request created. */
  readonly sopInstance?: string;
}

const TAG = {
  groupLength: 0x0000,
  affectedSopClass: 0x0002,
  requestedSopClass: 0x0003,
  field: 0x0100,
  messageId: 0x0110,
  messageIdRespondedTo: 0x0120,
  priority: 0x0700,
  dataSetType: 0x0800,
  status: 0x0900,
  errorComment: 0x0902,
  affectedSopInstance: 0x1000,
  requestedSopInstance: 0x1001,
  eventTypeId: 0x1002,
  actionTypeId: 0x1008,
} as const;

/** Value of (0000,0800) in a command without a dataset. */
const NO_DATASET = 0x0101;
const DATASET = 0x0001;
/** Max bytes of a command set; typical ones have some hundred. */
export const COMMAND_BYTES_MAX = 16_384;
/** Max bytes of a dataset without pixels. A commitment of 10 000 instances has 1.5 MB. */
export const ATTRIBUTES_BYTES_MAX = 4 * 1024 * 1024;

/** Reads a command set. @returns a string with the problem of an invalid one */
export function readCommand(bytes: Uint8Array): Command | string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Map<number, Uint8Array>();
  for (let at = 0; at < bytes.length; ) {
    if (at + 8 > bytes.length) return `${bytes.length - at} bytes, too few for an element of a command`;
    if (view.getUint16(at, true) !== 0) return "expected group 0000 in a command, got another";
    const element = view.getUint16(at + 2, true);
    const length = view.getUint32(at + 4, true);
    if (at + 8 + length > bytes.length) return `element (0000,${hex(element, 4)}) is longer than its command`;
    values.set(element, bytes.subarray(at + 8, at + 8 + length));
    at += 8 + length;
  }
  const number = (element: number) => {
    const value = values.get(element);
    return value?.length === 2 ? value[0]! + value[1]! * 0x100 : null;
  };
  const text = (element: number) => readUid(values.get(element) ?? new Uint8Array(0));
  const field = number(TAG.field);
  const dataSetType = number(TAG.dataSetType);
  if (field === null || dataSetType === null) return "a command without command field or dataset type";
  return {
    field,
    messageId: number(TAG.messageId) ?? 0,
    messageIdRespondedTo: number(TAG.messageIdRespondedTo) ?? 0,
    affectedSopClass: text(TAG.affectedSopClass) || text(TAG.requestedSopClass),
    affectedSopInstance: text(TAG.affectedSopInstance) || text(TAG.requestedSopInstance),
    typeId: number(TAG.eventTypeId) ?? number(TAG.actionTypeId) ?? 0,
    hasDataset: dataSetType !== NO_DATASET,
    status: number(TAG.status) ?? 0,
    comment: text(TAG.errorComment),
  };
}

/** Encodes the response to a request. A comment explains a failure or warning. */
export function encodeResponse(
  request: Command,
  status: number,
  comment: string | null,
  hasDataset = false,
): Uint8Array {
  const { field, messageId, affectedSopClass, affectedSopInstance } = request;
  return encodeCommand([
    [TAG.affectedSopClass, evenText(affectedSopClass, "\0")],
    [TAG.field, uint16(field | RESPONSE)],
    [TAG.messageIdRespondedTo, uint16(messageId)],
    [TAG.dataSetType, uint16(hasDataset ? DATASET : NO_DATASET)],
    [TAG.status, uint16(status)],
    ...(comment === null
      ? []
      : [[TAG.errorComment, evenText(comment.replace(/[^ -~]/g, "?").slice(0, 64), " ")] as const]),
    ...(affectedSopInstance === "" ? [] : [[TAG.affectedSopInstance, evenText(affectedSopInstance, "\0")] as const]),
  ]);
}

export interface DimseRequest {
  readonly field: number;
  readonly messageId: number;
  readonly sopClass: string;
  /** SOP Instance UID; "" for an operation without an instance, or if the peer chooses it. */
  readonly sopInstance: string;
  /** Type of an event or an action. */
  readonly typeId?: number;
  readonly hasDataset: boolean;
}

export function encodeRequest({
  field,
  messageId,
  sopClass,
  sopInstance,
  typeId,
  hasDataset,
}: DimseRequest): Uint8Array {
  const isOnExisting = field === COMMAND.nSetRequest || field === COMMAND.nActionRequest;
  const typeTag = field === COMMAND.nActionRequest ? TAG.actionTypeId : TAG.eventTypeId;
  const instanceTag = isOnExisting ? TAG.requestedSopInstance : TAG.affectedSopInstance;
  const hasPriority = field === COMMAND.cStoreRequest || field === COMMAND.cFindRequest;
  return encodeCommand([
    [isOnExisting ? TAG.requestedSopClass : TAG.affectedSopClass, evenText(sopClass, "\0")],
    [TAG.field, uint16(field)],
    [TAG.messageId, uint16(messageId)],
    ...(hasPriority ? [[TAG.priority, uint16(0)] as const] : []),
    [TAG.dataSetType, uint16(hasDataset ? DATASET : NO_DATASET)],
    ...(sopInstance === "" ? [] : [[instanceTag, evenText(sopInstance, "\0")] as const]),
    ...(typeId === undefined ? [] : [[typeTag, uint16(typeId)] as const]),
  ]);
}

/** Bit that the command field of a response adds to that of its request. */
export const RESPONSE = 0x8000;

function encodeCommand(elements: readonly (readonly [number, Uint8Array])[]): Uint8Array {
  const encoded = elements.map(([element, value]) => encodeElement(element, value));
  const length = encoded.reduce((sum, bytes) => sum + bytes.length, 0);
  const groupLength = new Uint8Array(4);
  new DataView(groupLength.buffer).setUint32(0, length, true);
  return concat([encodeElement(TAG.groupLength, groupLength), ...encoded]);
}

function encodeElement(element: number, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(8 + value.length);
  const view = new DataView(bytes.buffer);
  view.setUint16(2, element, true);
  view.setUint32(4, value.length, true);
  bytes.set(value, 8);
  return bytes;
}

/** Returns whether the text is a UID (PS3.5 §9.1). Leading zeros are allowed, because devices write them. */
export function isUid(text: string): boolean {
  return /^[0-9.]{1,64}$/.test(text);
}

/** Max characters of a name in place of a UID. */
export const UID_CHARS_MAX = 128;

/**
 * Returns whether the text is usable as a UID. Devices send too many digits, letters and dashes. The agent keeps and forwards it as
 * sent, because it names its files itself. It refuses a path, because an archive may name its files by the UID.
 */
export function isUsableUid(text: string): boolean {
  return text.length <= UID_CHARS_MAX && /^[ -.0-[\]-~]+$/.test(text) && /[0-9A-Za-z]/.test(text);
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value & 0xff, value >> 8);
}
