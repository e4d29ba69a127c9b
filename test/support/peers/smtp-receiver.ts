import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

// A mail server for tests (RFC 5321): it takes e-mails over plain TCP on this machine, or fails as the test requires.

export interface TakenMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface SmtpReceiver {
  readonly port: number;
  readonly mails: TakenMail[];
  /** First words of all commands. */
  readonly commands: string[];
  /** Replies to commands instead of the usual ones, by the command's first word. `DATA.` is the end of the data. */
  readonly answers: Map<string, string | null>;
}

/** Starts the receiver on a free port, or on the given one. A null reply closes the connection, an empty one never comes. */
export async function startSmtpReceiver(port = 0): Promise<SmtpReceiver> {
  const receiver = {
    port,
    mails: [] as TakenMail[],
    commands: [] as string[],
    answers: new Map<string, string | null>(),
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    talk(socket, receiver);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  receiver.port = (server.address() as AddressInfo).port;
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return receiver;
}

function talk(socket: Socket, { mails, commands, answers }: SmtpReceiver): void {
  let [kept, to, isData] = ["", "", false];
  const answer = (command: string, usual: string) => {
    commands.push(command);
    const line = answers.has(command) ? answers.get(command) : usual;
    if (line == null) socket.destroy();
    else if (line !== "") socket.write(`${line}\r\n`);
    return line?.startsWith("2") === true;
  };
  answer("connect", "220 test");
  socket.on("data", (bytes) => {
    kept += bytes.toString();
    for (;;) {
      const end = kept.indexOf(isData ? "\r\n.\r\n" : "\r\n");
      if (end < 0) return;
      const line = kept.slice(0, end);
      kept = kept.slice(end + (isData ? 5 : 2));
      if (isData) {
        isData = false;
        if (answer("DATA.", "250 queued as 1")) mails.push(readMail(to, line));
        continue;
      }
      const [command = ""] = line.toUpperCase().split(/[ :]/);
      if (command === "RCPT") to = /<(.*)>/.exec(line)?.[1] ?? "";
      isData = command === "DATA";
      answer(command, command === "DATA" ? "354 go on" : command === "QUIT" ? "221 bye" : "250 ok");
    }
  });
}

function readMail(to: string, data: string): TakenMail {
  const [head = "", ...rest] = data.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  const unfolded = head.replaceAll(/\r\n[ \t]/g, " ");
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(unfolded)?.[1] ?? "";
  const encoding = header("content-transfer-encoding");
  const text =
    encoding === "base64" ? Buffer.from(body, "base64") : encoding === "quoted-printable" ? quoted(body) : body;
  return { to, subject: words(header("subject")), text: text.toString().replaceAll("\r\n", "\n") };
}

function quoted(text: string): Buffer {
  const bytes = text.replaceAll("=\r\n", "").replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => unescape(`%${hex}`));
  return Buffer.from(bytes, "latin1");
}

/** Decodes the words of a header (RFC 2047). */
function words(text: string): string {
  return text
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(/=\?utf-8\?(q|b)\?(.*?)\?=/gi, (_, kind: string, word: string) =>
      (kind.toLowerCase() === "b" ? Buffer.from(word, "base64") : quoted(word.replaceAll("_", " "))).toString(),
    );
}
