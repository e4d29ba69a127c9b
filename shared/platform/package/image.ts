import { execFileSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { debName } from "./deb.ts";
import type { Pack, PackOrder } from "./pack.ts";
import type { Release } from "./stage.ts";
import { tar } from "./tar.ts";

// Packs the server as an image for Docker and Podman. This module writes the archive itself: no tool adds a time or an id of its
// own. The archive has the form of `docker save`, because an image in the form of OCI has no health check.

const FILES = path.join(import.meta.dirname, "files/image");
const PROGRAM = "usr/lib/vetwire-server";
const DATA = "var/lib/vetwire/server";
const PORT = 8080;
/** Number of the user vetwire in the image, above those of a machine's own users. */
const USER = 10_001;
const NS_PER_S = 1e9;

/** Checks whether the server runs. The image has neither curl nor a shell. */
const HEALTH = [
  `/${PROGRAM}/runtime/node`,
  "-e",
  `fetch('http://127.0.0.1:${PORT}/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`,
];

/** Makes vetwire-server-VERSION-PLATFORM-image.tar, with a Dockerfile and a compose.yaml next to it. */
export const packImage: Pack = async (order) => {
  const { platform, release, work, out } = order;
  const image = path.join(work, "image");
  fs.mkdirSync(image);
  const layers = [debianLayer(order), programLayer(order)].map((file) => addLayer(image, file));
  const draft = path.join(work, "config.json");
  fs.writeFileSync(draft, JSON.stringify(configuration(release, layers)));
  const config = `${sha256(draft)}.json`;
  fs.renameSync(draft, path.join(image, config));
  const tags = [`vetwire-server:${release.version}`];
  const manifest = [{ Config: config, RepoTags: tags, Layers: layers.map((digest) => `${digest}.tar.gz`) }];
  fs.writeFileSync(path.join(image, "manifest.json"), JSON.stringify(manifest));
  const name = `vetwire-server-${release.version}-${platform}-image.tar`;
  for (const file of ["Dockerfile", "compose.yaml"]) {
    const text = fs
      .readFileSync(path.join(FILES, file), "utf8")
      .replaceAll("@VERSION@", release.version)
      .replaceAll("@IMAGE@", name)
      .replaceAll("@DEB@", debName("server", platform, release))
      .replaceAll("@HEALTH@", JSON.stringify(HEALTH));
    fs.writeFileSync(path.join(out, file), text);
  }
  tar(path.join(out, name), image, fs.readdirSync(image).toSorted(), release.time);
  return path.join(out, name);
};

/** Adds a layer, compressed: podman loads no compressed archive. Returns the digest that the configuration names. */
function addLayer(image: string, file: string): string {
  const digest = sha256(file);
  execFileSync("gzip", ["-n", "-6", file]);
  fs.renameSync(`${file}.gz`, path.join(image, `${digest}.tar.gz`));
  return digest;
}

/** Writes the libraries that Node needs, as Debian has them today. Node itself holds time zones and certificates. */
function debianLayer({ work, release }: PackOrder): string {
  const file = path.join(work, "debian.tar");
  const words = ["--quiet", "--variant=extract", "--include=libc6,libstdc++6", "--skip=output/dev"];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(release.time) };
  execFileSync("mmdebstrap", [...words, "bookworm", file], { env, stdio: ["ignore", "ignore", "pipe"] });
  // mmdebstrap copies the name and the name servers of this machine.
  execFileSync("tar", ["--delete", "-f", file, "./etc/hostname", "./etc/resolv.conf"]);
  return file;
}

function programLayer({ staged, work, release }: PackOrder): string {
  const tree = path.join(work, "tree");
  fs.mkdirSync(path.join(tree, DATA), { recursive: true, mode: 0o700 });
  for (const folder of ["etc", "usr", "usr/bin", "usr/lib"]) {
    fs.mkdirSync(path.join(tree, folder));
    fs.chmodSync(path.join(tree, folder), 0o755);
  }
  // staged is on the same disk: links save 160 MB.
  execFileSync("cp", ["-al", staged, path.join(tree, PROGRAM)]);
  const write = (name: string, text: string, mode: number) => {
    fs.writeFileSync(path.join(tree, name), text);
    fs.chmodSync(path.join(tree, name), mode);
  };
  write("usr/bin/vetwire", fs.readFileSync(path.join(FILES, "vetwire"), "utf8"), 0o755);
  write("etc/passwd", `root:x:0:0::/:/\nvetwire:x:${USER}:${USER}::/:/\n`, 0o644);
  write("etc/group", `root:x:0:\nvetwire:x:${USER}:\n`, 0o644);
  const file = path.join(work, "program.tar");
  tar(file, tree, ["etc", "usr"], release.time);
  const owner = [`--owner=vetwire:${USER}`, `--group=vetwire:${USER}`, "--numeric-owner", `--mtime=@${release.time}`];
  execFileSync("tar", ["-C", tree, ...owner, "--format=ustar", "-rf", file, DATA]);
  return file;
}

/** Describes the image. [Docker Image Specification v1.2] */
function configuration({ version, time }: Release, digests: readonly string[]): object {
  const created = new Date(time * 1000).toISOString();
  return {
    architecture: "amd64",
    os: "linux",
    created,
    config: {
      User: "vetwire",
      // The commands find the data by STATE_DIRECTORY, as in a service of systemd.
      Env: ["PATH=/usr/bin", `STATE_DIRECTORY=/${DATA}`],
      WorkingDir: "/",
      Entrypoint: ["/usr/bin/vetwire"],
      Cmd: ["server", "run", "--host", "0.0.0.0", "--port", String(PORT)],
      ExposedPorts: { [`${PORT}/tcp`]: {} },
      Volumes: { [`/${DATA}`]: {} },
      Healthcheck: {
        Test: ["CMD", ...HEALTH],
        Interval: 30 * NS_PER_S,
        Timeout: 5 * NS_PER_S,
        StartPeriod: 20 * NS_PER_S,
      },
      Labels: { "org.opencontainers.image.title": "vetwire-server", "org.opencontainers.image.version": version },
    },
    rootfs: { type: "layers", diff_ids: digests.map((digest) => `sha256:${digest}`) },
    history: digests.map(() => ({ created })),
  };
}

function sha256(file: string): string {
  return crypto.createHash("sha256").update(fs.readFileSync(file)).digest("hex");
}
