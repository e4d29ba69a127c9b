import { LATEST, type LatestRelease } from "../../api/upgrade.ts";
import { fileAddress, newestAddress } from "./addresses.ts";

// Writes the part of README.md between two marks: the files of the last release with their commands, or how to make the packages.

const START = "<!-- Written by: npm run release -- readme -->";
const END = "<!-- End of what npm run release writes. -->";

/** Returns README.md with this release in it. `latest` is null before the first release. @throws Error without the marks */
export function withDownloads(readme: string, latest: LatestRelease | null, version: string, base: string): string {
  const [start, end] = [readme.indexOf(START), readme.indexOf(END)];
  if (start === -1 || end < start) throw new Error("README.md lacks the marks of the downloads");
  const part = latest === null ? unreleased(version) : released(latest, base);
  return `${readme.slice(0, start)}${START}\n${part}${readme.slice(end)}`;
}

function unreleased(version: string): string {
  const [msi, server, agent] = [
    `vetwire-agent-${version}-win-x64.msi`,
    ...["server", "agent"].map((name) => `vetwire-${name}_${version}_amd64.deb`),
  ];
  return `
There is no release yet, and nothing to download. \`npm ci && npm run package -- all\` makes the packages in \`release/\`, where the
commands below run; on Debian 12 it makes every kind after \`npm run debian\`.

Windows 10 or newer, in a terminal of an administrator; a double click on the file does the first line:

\`\`\`bat windows
start /wait msiexec /i ${msi} /qn
sc query vetwire-agent
start http://127.0.0.1:8081
\`\`\`

Debian 12, Ubuntu 22.04 or newer:

\`\`\`bash debian
sudo apt-get install ./${server}
sudo cat /var/lib/vetwire/server/setup-code
sudo apt-get install ./${agent}
\`\`\`

`;
}

function released(latest: LatestRelease, base: string): string {
  const { version, released_on: day, files } = latest;
  const rows = files.map((file) => {
    const size = `${(file.size / 1e6).toFixed(1)} MB`;
    return `| [${file.name}](${file.url}) | ${file.kind}, ${file.program}, ${file.platform} | ${size} | \`${file.sha256}\` |`;
  });
  const blocks = [windowsCommands(latest), debianCommands(latest)].filter((each) => each !== "");
  return `
Version ${version} of ${day}. [SHA256SUMS](${fileAddress(base, version, "SHA256SUMS")}) has the hashes of all files and is signed by
minisign.

| file | for | size | SHA-256 |
|---|---|---|---|
${rows.join("\n")}

${blocks.join("\n\n")}

\`sudo vetwire server releases fetch --from ${newestAddress(base, LATEST)}\` offers the newest agent on the dashboard.

`;
}

function windowsCommands({ files }: LatestRelease): string {
  const file = files.find(({ kind, program }) => kind === "msi" && program === "agent");
  if (file === undefined) return "";
  return `Windows 10 or newer, in a terminal of an administrator. The second line installs nothing but the file with the hash of the table:

\`\`\`bat windows
curl -fLO ${file.url}
certutil -hashfile ${file.name} SHA256 | findstr ${file.sha256} && start /wait msiexec /i ${file.name} /qn
\`\`\``;
}

function debianCommands({ files }: LatestRelease): string {
  const debs = files.filter(({ kind, platform }) => kind === "deb" && platform === "linux-x64");
  if (debs.length === 0) return "";
  // People paste all lines together, so a wrong hash must keep the last one from running.
  const hashes = debs.map(({ name, sha256 }) => `${sha256}  ${name}\\n`).join("");
  return `Debian 12, Ubuntu 22.04 or newer. Installing the server prints the code that makes the first user of the dashboard:

\`\`\`bash debian
curl -fL ${debs.map(({ url }) => `-O ${url}`).join(" ")}
printf '${hashes}' | sha256sum --check &&
sudo apt-get install ${debs.map(({ name }) => `./${name}`).join(" ")}
\`\`\``;
}
