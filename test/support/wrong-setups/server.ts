import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import https from "node:https";
import type net from "node:net";
import path from "node:path";
import { newKey } from "../../../shared/runtime/api-key.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { CLINIC, freePort, runServerCommand, until, World } from "../machine/processes.ts";
import { type Bench, vetwireAnswer, type WrongSetup } from "./bench.ts";

// Wrong set-ups of the way to the server, of its certificate, of the key, and of the clocks.

let world: Promise<World> | null = null;

/** A real server with one clinic, for all cases about keys. */
function realServer(): Promise<World> {
  world ??= World.create(2);
  return world;
}

/** Ends the real server. */
export async function endRealServer(): Promise<void> {
  await (await world)?.end();
  world = null;
}

const ALL = "clinic.lab.ingest,clinic.patient.view,clinic.calendar.view";

/** Sets up the agent for the real server with a new key. @returns its id */
async function useNewKey(bench: Bench, permissions = ALL): Promise<{ world: World; id: string }> {
  const real = await realServer();
  const of = ["--clinic", CLINIC, "--data", real.serverData];
  const key = runServerCommand("keys", "create", "--name", bench.folder, "--permissions", permissions, ...of).trim();
  bench.write("agent.key", `${key}\n`);
  bench.setServer(real.serverUrl);
  const keys = JSON.parse(runServerCommand("keys", "list", "--json", ...of)) as { id: string; name: string }[];
  return { world: real, id: keys.find(({ name }) => name === bench.folder)!.id };
}

interface Issued {
  /** Names of the certificate. */
  readonly names?: string;
  /** Days from now. */
  readonly from?: number;
  readonly to?: number;
}

/** Makes an authority in the folder of the bench, and a certificate of it. @returns the file of the authority */
function issue(folder: string, { names = "IP:127.0.0.1", from = -1, to = 90 }: Issued): string {
  const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...ec, "-days", "90", "-subj", "/CN=authority", "-keyout", "ca.pem", "-out", "ca.crt");
  openssl("req", ...ec, "-subj", "/CN=server", "-keyout", "server.pem", "-out", "server.csr");
  const day = (days: number) =>
    `${new Date(Date.now() + days * 86_400_000).toISOString().replaceAll(/[-:T]/g, "").slice(0, 14)}Z`;
  fs.writeFileSync(path.join(folder, "index"), "");
  const settings = [
    "[ca]\ndefault_ca=own\n[own]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=any",
    `[any]\ncommonName=supplied\n[names]\nsubjectAltName=${names}\n`,
  ];
  fs.writeFileSync(path.join(folder, "ca.cnf"), settings.join("\n"));
  const signed = ["-batch", "-config", "ca.cnf", "-cert", "ca.crt", "-keyfile", "ca.pem", "-extensions", "names"];
  openssl("ca", ...signed, "-startdate", day(from), "-enddate", day(to), "-in", "server.csr", "-out", "server.crt");
  return path.join(folder, "ca.crt");
}

/** Starts a Vetwire server with TLS. The command trusts its authority. */
async function serveTls(bench: Bench, issued: Issued = {}, host = "127.0.0.1"): Promise<void> {
  const authority = issue(bench.folder, issued);
  const files = ["server.crt", "server.pem"].map((name) => fs.readFileSync(path.join(bench.folder, name)));
  const server = https.createServer({ cert: files[0], key: files[1] }, (request, response) => {
    const step = vetwireAnswer({ url: request.url ?? "" });
    if (typeof step === "object") response.end(JSON.stringify(step.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  bench.closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  bench.env["NODE_EXTRA_CA_CERTS"] = authority;
  bench.setServer(`https://${host}:${(server.address() as net.AddressInfo).port}`);
}

function portOf(bench: Bench): string {
  return new URL((bench.config["server"] as { url: string }).url).port;
}

const WAY: readonly WrongSetup[] = [
  {
    title: "no machine has the name of the server",
    finding: "server.unknown-name",
    remedy: /compare server\.url in agent\.yaml with the address of the dashboard/,
    cannot: () => null,
    make: (bench) => bench.setServer("http://vetwire-server.invalid:8080"),
  },
  {
    title: "no program listens at the port of the server",
    finding: "server.refused",
    remedy: /start the server there, or correct the port \d+ in server\.url/,
    make: async (bench) => bench.setServer(`http://127.0.0.1:${await freePort()}`),
  },
  {
    title: "a firewall swallows the connection",
    finding: "server.timeout",
    remedy: /let its firewall accept port \d+/,
    make: async (bench) => {
      // A full backlog drops further connections as a firewall does.
      const script = `import socket,time
s=socket.socket();s.bind(("127.0.0.1",0));s.listen(0);p=s.getsockname()[1]
c=[socket.socket() for _ in range(4)]
for x in c: x.setblocking(False);x.connect_ex(("127.0.0.1",p))
time.sleep(.2);print(p,flush=True);time.sleep(60)`;
      const child = spawn("python3", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
      bench.closers.push(() => child.kill("SIGKILL"));
      const port = await new Promise<string>((resolve) =>
        child.stdout.once("data", (bytes: Buffer) => resolve(bytes.toString().trim())),
      );
      bench.setServer(`http://127.0.0.1:${port}`);
    },
  },
  {
    title: "the server accepts and never responds",
    finding: "server.no-answer",
    remedy: /whether a proxy or a firewall stands before it/,
    make: async (bench) => bench.setServer(await bench.serve(() => "hang")),
  },
  {
    title: "https is written for a server without TLS",
    finding: "server.no-tls",
    remedy: /write http:\/\/ in place of https:\/\//,
    make: (bench) => bench.setServer(`https://127.0.0.1:${portOf(bench)}`),
  },
  {
    title: "http is written for a server with TLS",
    finding: "server.speaks-tls",
    remedy: /write https:\/\/ in place of http:\/\//,
    make: async (bench) => {
      await serveTls(bench);
      bench.setServer(`http://127.0.0.1:${portOf(bench)}`);
    },
  },
  {
    title: "this machine does not know the authority of the server",
    finding: "server.unknown-authority",
    remedy: /start the agent with NODE_EXTRA_CA_CERTS=FILE/,
    make: async (bench) => {
      await serveTls(bench);
      bench.env["NODE_EXTRA_CA_CERTS"] = "";
    },
  },
  {
    title: "the file of the authority does not exist",
    finding: "server.unknown-authority",
    remedy: /NODE_EXTRA_CA_CERTS names \/no\/such\.pem, which does not exist/,
    make: async (bench) => {
      await serveTls(bench);
      bench.env["NODE_EXTRA_CA_CERTS"] = "/no/such.pem";
    },
  },
  {
    title: "the certificate has ended",
    finding: "server.expired",
    remedy: /renew the certificate at the server/,
    make: (bench) => serveTls(bench, { from: -30, to: -2 }),
  },
  {
    title: "the certificate is not valid yet",
    finding: "server.not-yet-valid",
    remedy: /set the clock of this machine/,
    make: (bench) => serveTls(bench, { from: 5 }),
  },
  {
    title: "the certificate ends soon",
    finding: "server.certificate-ends",
    remedy: /renew the certificate at the server before that day/,
    make: (bench) => serveTls(bench, { to: 3 }),
  },
  {
    title: "the certificate is for another name",
    finding: "server.wrong-name",
    remedy: /for clinic\.example, not for localhost.*write a name of the certificate in server\.url/s,
    make: (bench) => serveTls(bench, { names: "DNS:clinic.example" }, "localhost"),
  },
];

const PROGRAM: readonly WrongSetup[] = [
  {
    title: "another web server is at the address",
    finding: "server.stranger",
    remedy: /compare server\.url with the address of the dashboard/,
    make: async (bench) => bench.setServer(await bench.serve(() => ({ status: 404, body: "<h1>nginx</h1>" }))),
  },
  {
    title: "the server redirects to https",
    finding: "server.redirects",
    remedy: /write the address to which it redirects in server\.url/,
    make: async (bench) => {
      const headers = { location: "https://127.0.0.1/" };
      bench.setServer(await bench.serve(() => ({ status: 301, body: "", headers })));
    },
  },
  {
    title: "the server behind a proxy is off",
    finding: "server.fails",
    remedy: /behind a proxy, look whether the server runs/,
    make: async (bench) => bench.setServer(await bench.serve(() => ({ status: 502, body: "Bad gateway" }))),
  },
  {
    title: "the server is older than the agent",
    finding: "server.old",
    remedy: /update the server to the version of this agent/,
    make: async (bench) => {
      const error = { code: "ROUTE.NOT_FOUND", message: "/agent/v1/codes does not exist.", severity: "error" };
      const respond = (request: { readonly url: string }) =>
        request.url.startsWith("/agent/v1/codes")
          ? { status: 404, body: { success: false, error } }
          : vetwireAnswer(request);
      bench.setServer(await bench.serve(respond));
    },
  },
  {
    title: "the address of the dashboard's page is written",
    finding: "server.path",
    remedy: /write server\.url without \/api\/v1: http/,
    make: async (bench) => {
      const { world: real } = await useNewKey(bench);
      bench.setServer(`${real.serverUrl}/api/v1`);
    },
  },
  {
    title: "other agents use up the requests of the key",
    finding: "server.rate-limited",
    remedy: /wait a minute, then run the doctor again/,
    make: async (bench) => bench.setServer(await bench.serve(() => ({ status: 429 }))),
  },
  {
    title: "the clock of this machine is two hours behind",
    finding: "clock.wrong",
    remedy: /behind the server's.*set the one that is wrong; .*timedatectl set-ntp true/s,
    make: async (bench) => {
      const headers = { date: new Date(Date.now() + 2 * 3_600_000).toUTCString() };
      const respond = (request: { readonly url: string }) => ({
        ...(vetwireAnswer(request) as { status: number; body: unknown }),
        headers,
      });
      bench.setServer(await bench.serve(respond));
    },
  },
  {
    title: "the zone of the configuration is not the machine's",
    finding: "zone.other",
    remedy: /write timeZone: America\/New_York in agent\.yaml/,
    make: (bench) => {
      bench.config["timeZone"] = "Europe/Istanbul";
      bench.env["TZ"] = "America/New_York";
    },
  },
];

const KEY: readonly WrongSetup[] = [
  {
    title: "the key is of another server",
    finding: "key.refused",
    remedy: /pair the agent anew, or make a key at the dashboard/,
    make: async (bench) => {
      await useNewKey(bench);
      bench.write("agent.key", `${newKey()}\n`);
    },
  },
  {
    title: "the key was copied without its end",
    finding: "key.damaged",
    remedy: /copy the whole key again into .*agent\.key, in one line/,
    make: async (bench) => {
      await useNewKey(bench);
      const file = path.join(bench.folder, "agent.key");
      bench.write("agent.key", fs.readFileSync(file, "utf8").trim().slice(0, -2));
    },
  },
  {
    title: "the key may not send results",
    finding: "key.permission",
    remedy: /lacks the permission clinic\.lab\.ingest.*make a key with clinic\.lab\.ingest, /s,
    make: async (bench) => void (await useNewKey(bench, "clinic.patient.view")),
  },
  {
    title: "the key is of another clinic",
    finding: "key.other-clinic",
    remedy: /take a key of this clinic, or name a new data folder/,
    make: async (bench) => {
      await useNewKey(bench);
      const spool = await Spool.open(bench.data);
      await spool.call("upsertPatients", [{ fp: "patient_01K9TEST00000000000OTHER1", body: "{}" }], 1);
      await spool.close();
      await until("the spool is closed", () => fs.existsSync(path.join(bench.data, "spool.db")));
    },
  },
];

export const SERVER_SIDE = [...WAY, ...PROGRAM, ...KEY];
