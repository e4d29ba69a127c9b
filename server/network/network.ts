import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Server as TlsServer } from "node:tls";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { NetworkRefusal, NetworkSetting, NetworkState } from "../dashboard/types/settings/network.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { certificatesIn, pinOf } from "../../shared/network/public-key-pin.ts";
import { type Certificate, certificateWarning } from "../http/certificate.ts";
import { createFurtherServer } from "../http/http-server.ts";
import { addressFinder } from "../../shared/network/network-address.ts";
import { addressesOf } from "./addresses.ts";
import { type Authority, issueCertificate } from "./authority.ts";
import { type OwnNames, ownNames } from "./local-names.ts";
import { namesOf } from "./own-certificate.ts";
import { keptAuthority, readAuthority, readSetting, writeSetting } from "./setting-file.ts";
import { listenRefusal, settingRefusal } from "./setting-refusal.ts";

/** Interval of the look at the machine's addresses and at the end of the certificate. */
const CHECK_MS = 60_000;
/** Time before its end at which a certificate of the authority is replaced. */
const RENEW_MS = 30 * 86_400_000;
/** Time for responses under way on a closing port. */
const LAST_ANSWERS_MS = 5000;

export interface NetworkOptions {
  readonly folder: string;
  readonly logger: Logger;
  readonly now: () => number;
  /** The listener of the command line, which stays open. */
  readonly host: string;
  /** Its certificate, as it is now. */
  readonly mainCertificate: () => Certificate | undefined;
  /** Options that decide in place of the page. */
  readonly fixedBy: readonly string[];
  /** Proxies of the command line. */
  readonly proxies: readonly string[];
  /** The address of the dashboard that the command line names; null without one. */
  readonly publicUrl: string | null;
  readonly own?: () => OwnNames;
}

/** A port in addition to that of the command line. */
interface Port {
  /** Undefined for each address of this machine. */
  readonly host: string | undefined;
  readonly port: number;
  /** Undefined for plain http to a proxy. */
  readonly certificate: Certificate | undefined;
}

type OpenPort = Port & { readonly server: Server };

/**
 * How other machines reach the server. The listener of the command line stays as it is: the page of this machine and an agent on it
 * keep their address whatever happens here. A setting adds a port, and a setting is written to the disk once its port is open. A
 * process that is killed thus starts again with the old setting or the new one, and either works.
 */
export class Network {
  readonly #options: NetworkOptions;
  readonly #own: () => OwnNames;
  #app: FastifyInstance | null = null;
  /** The port of the command line, which may have named any free one. */
  #mainPort = 0;
  #setting: NetworkSetting = { way: "this machine" };
  #trusts: (address: string) => boolean;
  #open: OpenPort | null = null;
  #fault: NetworkRefusal | null = null;
  #authority: Authority | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** One change after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.#own = options.own ?? ownNames;
    this.#trusts = addressFinder(options.proxies);
  }

  /** Whether X-Forwarded-For of an address is believed. */
  readonly trusts = (address: string): boolean => this.#trusts(address);

  /** The open connections of the clinic's network. */
  readonly connections = async (): Promise<number> => {
    const { server } = this.#open ?? {};
    return server === undefined
      ? 0
      : new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
  };

  /** The pin of the certificate that PCs get; null if a proxy has it, or nobody. */
  get pin(): string | null {
    const last = certificatesIn(this.#certificate?.cert.toString() ?? "").at(-1);
    return last === undefined ? null : pinOf(last);
  }

  /** The authority's certificate as PEM; null before it is made. */
  get authority(): string | null {
    return this.#authority?.certificate ?? null;
  }

  /** Opens the port of the stored setting. A server without users stays closed: anybody could guess at its set-up code. */
  async start(app: FastifyInstance, hasUsers: boolean): Promise<void> {
    const { folder, fixedBy, logger } = this.#options;
    this.#app = app;
    this.#mainPort = (app.server.address() as AddressInfo).port;
    if (fixedBy.length > 0) return;
    try {
      this.#authority = readAuthority(folder);
      if (hasUsers) this.#take(readSetting(folder));
    } catch (error) {
      // A damaged file must not keep the clinic from its results on this machine.
      logger.error({ reason: errorMessage(error) }, "the setting of the network cannot be read");
      this.#fault = { code: "not saved", got: errorMessage(error) };
    }
    await this.check();
    this.#timer = setInterval(() => void this.check(), CHECK_MS).unref();
    if (this.#open !== null) logger.info({ addresses: this.state().addresses }, "listening to the clinic's network");
  }

  /** Changes how other machines reach the server. @returns why nothing changed; null after the change */
  change(setting: NetworkSetting): Promise<NetworkRefusal | null> {
    const changed = this.#last.then(() => this.#change(setting));
    this.#last = changed;
    return changed;
  }

  /** Renews the certificate if it ends soon or the machine's addresses changed. Opens a port that could not be opened. */
  check(): Promise<void> {
    const checked = this.#last.then(() => this.#check());
    this.#last = checked;
    return checked;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
    if (this.#open !== null) await close(this.#open.server);
  }

  /** The address that the setting or the command line names; null without one. */
  get named(): string | null {
    return this.#setting.way === "proxy" ? this.#setting.url : this.#options.publicUrl;
  }

  state(): NetworkState {
    const { fixedBy, host } = this.#options;
    const [setting, pem] = [this.#setting, this.#certificate];
    const certificate = pem && new X509Certificate(pem.cert);
    const { named } = this;
    return {
      way: setting.way,
      fixed_by: [...fixedBy],
      port: "port" in setting ? setting.port : null,
      proxy: setting.way === "proxy" ? { url: setting.url, proxies: setting.proxies, listen: setting.listen } : null,
      here: `${this.#options.mainCertificate() === undefined ? "http" : "https"}://127.0.0.1:${this.#mainPort}`,
      addresses:
        named === null ? addressesOf(this.#open ?? { host, port: this.#mainPort }, certificate, this.#own()) : [named],
      certificate: certificate === undefined ? null : { names: namesOf(certificate), valid_until: endOf(certificate) },
      authority: this.#authority && shown(this.#authority),
      fault: this.#fault,
    };
  }

  get #certificate(): Certificate | undefined {
    return this.#open === null ? this.#options.mainCertificate() : this.#open.certificate;
  }

  async #change(setting: NetworkSetting): Promise<NetworkRefusal | null> {
    const { fixedBy, folder, logger, now } = this.#options;
    if (fixedBy.length > 0) return { code: "set by options", got: fixedBy.join(" ") };
    const refused = settingRefusal(setting, this.#mainPort, now());
    if (refused !== null) return refused;
    const [setBefore, openBefore] = [this.#setting, this.#open];
    let wanted: Port | null = null;
    try {
      this.#take(setting);
      wanted = this.#wanted();
      this.#open = wanted && (await this.#opened(wanted));
      writeSetting(folder, setting);
    } catch (error) {
      this.#take(setBefore);
      await this.#goBack(openBefore);
      return listenRefusal(error, wanted ?? { port: this.#mainPort });
    }
    this.#fault = null;
    logger.info({ way: setting.way, addresses: this.state().addresses }, "the network was changed");
    // The response to this change may be under way on the closing port.
    if (openBefore !== null && openBefore.server !== this.#open?.server) void close(openBefore.server);
    return null;
  }

  async #goBack(before: OpenPort | null): Promise<void> {
    if (this.#open !== null && this.#open.server !== before?.server) void close(this.#open.server);
    this.#open = before;
    if (before === null) return;
    if (before.certificate !== undefined) secure(before.server, before.certificate);
    if (before.server.listening) return;
    // It was closed for a port of the other kind with the same number. The next check tries again.
    await listen(before.server, before).catch(() => {
      this.#open = null;
    });
  }

  async #check(): Promise<void> {
    const { logger } = this.#options;
    try {
      const [before, wanted] = [this.#open, this.#wanted()];
      if (wanted === null || (before !== null && !this.#isOld(before, wanted))) return this.#warn();
      this.#open = await this.#opened(wanted);
      this.#fault = null;
      if (before !== null) logger.info({ names: this.state().certificate?.names }, "the certificate was renewed");
    } catch (error) {
      const port = "port" in this.#setting ? this.#setting.port : 0;
      const fault = listenRefusal(error, { port });
      // Each fault is logged once, and not each minute.
      if (fault.code !== this.#fault?.code) logger.error({ reason: errorMessage(error) }, "the port cannot be opened");
      this.#fault = fault;
    }
  }

  #warn(): void {
    if (this.#setting.way !== "own certificate" || this.#open?.certificate === undefined) return;
    const warning = certificateWarning(this.#open.certificate, this.#options.now());
    if (warning !== null) this.#options.logger.warn(warning);
  }

  #take(setting: NetworkSetting): void {
    this.#setting = setting;
    this.#trusts = addressFinder(setting.way === "proxy" ? setting.proxies : this.#options.proxies);
  }

  /** Returns the port that the setting needs; null for none. */
  #wanted(): Port | null {
    const setting = this.#setting;
    switch (setting.way) {
      case "this machine":
        return null;
      case "proxy":
        return setting.listen && { ...setting.listen, certificate: undefined };
      case "own certificate": {
        const certificate = { cert: Buffer.from(setting.chain), key: Buffer.from(setting.key) };
        return { host: undefined, port: setting.port, certificate };
      }
      case "own authority": {
        const { folder, now } = this.#options;
        const own = this.#own();
        this.#authority ??= keptAuthority(folder, own, now());
        const names = [...own.addresses, ...own.names, "localhost", "127.0.0.1"];
        return { host: undefined, port: setting.port, certificate: issueCertificate(this.#authority, names, now()) };
      }
    }
  }

  /** Whether the authority's certificate ends soon, or the machine has got other names. */
  #isOld({ certificate: old }: Port, { certificate: current }: Port): boolean {
    if (this.#setting.way !== "own authority" || old === undefined || current === undefined) return false;
    const [before, now] = [new X509Certificate(old.cert), new X509Certificate(current.cert)];
    const clock = this.#options.now();
    const isInTime = Date.parse(before.validFrom) <= clock && clock < Date.parse(before.validTo) - RENEW_MS;
    return !isInTime || before.subjectAltName !== now.subjectAltName;
  }

  /** Opens a port. A port that is open with a certificate gets the new one without closing a connection. */
  async #opened(wanted: Port): Promise<OpenPort> {
    const before = this.#open;
    const isSame = before !== null && before.port === wanted.port && before.host === wanted.host;
    if (isSame) {
      if (wanted.certificate !== undefined) secure(before.server, wanted.certificate);
      return { ...wanted, server: before.server };
    }
    if (this.#app === null) throw new Error("expected start() before a port is opened");
    const server = createFurtherServer(this.#app, wanted.certificate, this.trusts);
    // The wire to a proxy is not encrypted, so that nobody else may use it.
    if (wanted.certificate === undefined) {
      server.prependListener("connection", (socket) => {
        if (!this.#trusts(socket.remoteAddress ?? "")) socket.destroy();
      });
    }
    if (before?.port === wanted.port) before.server.close();
    await listen(server, wanted);
    // Such as too many open files when a client connects: it must not end the process.
    server.on("error", (error) => this.#options.logger.error({ reason: error.message }, "a port has a fault"));
    return { ...wanted, server };
  }
}

function secure(server: Server, { cert, key }: Certificate): void {
  if (server instanceof TlsServer) server.setSecureContext({ cert, key });
}

async function listen(server: Server, { host, port }: Pick<Port, "host" | "port">): Promise<void> {
  // Rejects with the first error.
  const listening = once(server, "listening");
  server.listen({ port, ...(host !== undefined && { host }) });
  await listening;
}

/** Closes a port. Responses under way have a moment to end. */
async function close(server: Server): Promise<void> {
  setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS).unref();
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  await closed;
}

function shown({ certificate }: Authority): NetworkState["authority"] {
  const own = new X509Certificate(certificate);
  return { fingerprint: own.fingerprint256, valid_until: endOf(own) };
}

function endOf({ validTo }: X509Certificate): string {
  return new Date(validTo).toISOString();
}
