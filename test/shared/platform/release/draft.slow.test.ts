import { execFile, spawnSync } from "node:child_process";
import fs from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { LATEST } from "../../../../shared/api/upgrade.ts";
import { seal } from "../../../../shared/platform/package/seal.ts";
import { listLatest } from "../../../../shared/platform/release/latest.ts";
import { makeCertificates } from "../../../support/peers/certificates.ts";
import { ROOT, temporaryFolder } from "../../../support/machine/processes.ts";

// Goal: the draft that gh makes has the files of a release and no other. Method: the real gh, and a host on this machine with the
// calls of GitHub's API that gh makes. The host has tags, and several drafts of one tag, as GitHub has.

const TAG = "v0.2.0";

interface Draft {
  readonly request: object;
  readonly files: string[];
}

/** Starts the host. @returns the variables that lead gh there, and what it has got */
async function startGitHub(folder: string, tags: readonly string[]) {
  const drafts: Draft[] = [];
  const { ca, agent } = makeCertificates(folder, "localhost");
  const keys = { cert: fs.readFileSync(agent.certificate), key: fs.readFileSync(agent.key) };
  const respond = (request: IncomingMessage, body: string, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "", base());
    const send = (status: number, value: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (pathname === "/api/graphql") {
      const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, string> };
      const tag = tags.find((each) => Object.values(variables).some((value) => value.endsWith(each)));
      if (query.includes("RepositoryFindRef")) {
        return send(200, { data: { repository: { ref: tag === undefined ? null : { id: tag } } } });
      }
      const release = drafts.length === 0 ? null : { databaseId: 1, isDraft: true };
      return send(200, { data: { repository: { release } } });
    }
    const upload = /^\/upload\/(\d+)$/.exec(pathname);
    if (upload !== null) {
      drafts[Number(upload[1])]?.files.push(searchParams.get("name") ?? "");
      return send(201, {});
    }
    if (request.method === "POST" && pathname === "/api/v3/repos/owner/vetwire/releases") {
      drafts.push({ request: JSON.parse(body) as object, files: [] });
      const at = `${base()}/upload/${drafts.length - 1}`;
      return send(201, { upload_url: `${at}{?name,label}`, html_url: `${base()}/draft`, url: at });
    }
    if (pathname === "/api/v3/repos/owner/vetwire/releases/1") return send(200, { tag_name: TAG, draft: true });
    return send(404, { message: `${request.method} ${request.url}` });
  };
  const server = https.createServer(keys, (request, response) => {
    void text(request).then((body) => respond(request, body, response));
  });
  const base = () => `https://localhost:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const repository = `${base().slice("https://".length)}/owner/vetwire`;
  const env = {
    GH_REPO: repository,
    GH_HOST: new URL(base()).host,
    GH_ENTERPRISE_TOKEN: "of-the-test",
    SSL_CERT_FILE: ca,
  };
  return { drafts, env: { ...process.env, ...env, GH_CONFIG_DIR: path.join(folder, "gh") } };
}

test("gh makes a draft with the files of the release, once, and of a tag that is there", async (context) => {
  if (spawnSync("gh", ["--version"]).status !== 0) return context.skip("gh is missing: apt-get install gh");
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const release = path.join(folder, "release");
  fs.mkdirSync(release);
  const write = (name: string, content: string) => fs.writeFileSync(path.join(release, name), content);
  for (const name of ["vetwire-agent-0.2.0-linux-x64.tar.gz", "vetwire-agent_0.2.0_amd64.deb"]) write(name, name);
  write("NOTES.md", "### Added\n\n- A change.\n");
  write(LATEST, JSON.stringify(listLatest(release, "0.2.0", "2026-12-01", "https://downloads.test")));
  seal(release, [], null);
  const names = fs.readdirSync(release);
  const draft = (env: NodeJS.ProcessEnv) => {
    const words = [path.join(ROOT, "shared/platform/release/main.ts"), "draft", release];
    return promisify(execFile)(process.execPath, words, { cwd: ROOT, env }).catch((error: unknown) => error);
  };

  const untagged = await startGitHub(folder, ["v0.1.0"]);
  expect(await draft(untagged.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`tag ${TAG} doesn't exist`),
  });
  expect(untagged.drafts).toEqual([]);

  const github = await startGitHub(folder, [TAG]);
  write("release.key", "secret");
  expect(await draft(github.env)).toMatchObject({ code: 1, stderr: expect.stringContaining("release.key, which no") });
  fs.rmSync(path.join(release, "release.key"));
  expect(await draft(github.env)).toMatchObject({ stdout: expect.stringContaining("before you publish it, sign") });
  const request = { tag_name: TAG, name: TAG, draft: true, prerelease: false, body: "### Added\n\n- A change.\n" };
  expect(github.drafts).toEqual([{ request, files: expect.any(Array) as string[] }]);
  expect(github.drafts[0]?.files.toSorted()).toEqual(names.toSorted());
  expect(await draft(github.env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`GitHub has a release or a draft of ${TAG}`),
  });
  expect(github.drafts.length).toBe(1);
});
