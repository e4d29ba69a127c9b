import net from "node:net";
import { type Agreement, Association, type AssociationAction } from "./dicom/association.ts";
import { concat } from "./dicom/bytes.ts";
import { COMMAND, type Command, encodeRequest, readCommand, STATUS } from "./dicom/dimse.ts";
import { IMPLEMENTATION_CLASS_UID, IMPLEMENTATION_VERSION } from "./dicom/part10.ts";
import { APPLICATION_CONTEXT, DATA_PDU_BYTES_MAX } from "./dicom/pdu.ts";
import { EXPLICIT_LITTLE_ENDIAN, type GeneratedInstance } from "./generated-study.ts";

// Plays an imaging device with our own association, so that the agent can be tried without one.

export interface ImageTarget {
  readonly host: string;
  readonly port: number;
  readonly calledAe: string;
  readonly callingAe: string;
}

/** `dicom://[CALLING@]host:port[/CALLED]`; null: it is none. */
export function parseImageTarget(text: string): ImageTarget | null {
  const [, callingAe = "SIMULATOR", host = "", port, calledAe = "VETWIRE"] =
    /^dicom:\/\/(?:([^@/]+)@)?([^:/@]+):(\d{1,5})(?:\/([^/]+))?$/.exec(text) ?? [];
  return port === undefined ? null : { host, port: Number(port), calledAe, callingAe };
}

/** Stores them one after the other. @throws when one is not taken */
export async function storeImages(target: ImageTarget, instances: readonly GeneratedInstance[]): Promise<void> {
  const sopClasses = [...new Set(instances.map(({ sopClass }) => sopClass))];
  const association = Association.requestor({
    protocolVersion: 1,
    calledAe: target.calledAe,
    callingAe: target.callingAe,
    applicationContext: APPLICATION_CONTEXT,
    contexts: sopClasses.map((abstractSyntax, index) => ({
      id: 2 * index + 1,
      abstractSyntax,
      transferSyntaxes: [EXPLICIT_LITTLE_ENDIAN],
    })),
    pduBytesMax: DATA_PDU_BYTES_MAX,
    implementationClassUid: IMPLEMENTATION_CLASS_UID,
    implementationVersion: IMPLEMENTATION_VERSION,
  });
  const waiting = [...instances];
  const response: Uint8Array[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = net.connect({ host: target.host, port: target.port, noDelay: true });
    let timer: NodeJS.Timeout | undefined;
    let agreement: Agreement | null = null;
    const fail = (reason: string) => {
      carryOut(association.abort(reason));
      socket.destroySoon();
    };
    const storeNext = () => {
      const [next] = waiting;
      if (next === undefined) return carryOut(association.release());
      const { sopClass, sopInstance, dataset: bytes } = next;
      const [context] = [...(agreement?.contexts ?? [])].find(([, agreed]) => agreed.abstractSyntax === sopClass) ?? [];
      if (context === undefined) return fail(`SOP class ${sopClass} is not taken`);
      const messageId = instances.length - waiting.length + 1;
      const command = encodeRequest({
        field: COMMAND.storeRequest,
        messageId,
        sopClass,
        sopInstance,
        hasDataset: true,
      });
      carryOut(association.send({ context, part: "command", bytes: command, last: true }));
      carryOut(association.send({ context, part: "dataset", bytes, last: true }));
    };
    const answered = (command: Command | string) => {
      if (typeof command === "string") return fail(command);
      const { status } = command;
      if (status !== STATUS.success) return fail(`an instance was answered ${status.toString(16).padStart(4, "0")}`);
      waiting.shift();
      storeNext();
    };
    const carryOut = (actions: readonly AssociationAction[]): void => {
      for (const action of actions) {
        switch (action.do) {
          case "write":
            socket.write(action.bytes);
            break;
          case "timer":
            clearTimeout(timer);
            if (action.ms !== null) timer = setTimeout(() => carryOut(association.timeout()), action.ms);
            break;
          case "close":
            socket.destroySoon();
            break;
          case "open":
            agreement = action.agreement;
            storeNext();
            break;
          case "data":
            response.push(action.bytes.slice());
            if (action.last) answered(readCommand(concat(response.splice(0))));
            break;
          case "over":
            if (action.reason === null) resolve();
            else reject(new Error(action.reason));
            break;
        }
      }
    };
    socket.on("connect", () => carryOut(association.start()));
    socket.on("data", (chunk) => carryOut(association.receive(chunk)));
    socket.on("error", (error) => reject(new Error(`cannot reach ${target.host}:${target.port}: ${error.message}`)));
    socket.on("close", () => carryOut(association.closed()));
  });
}
