import fs from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { ROOT, temporaryFolder } from "../../support/machine/processes.ts";
import { bootSystemd, type Systemd } from "../../support/machine/systemd.ts";

// Goal: `vetwire service` installs programs that live, fail and come back under a real systemd. Method: a systemd of its own, as PID 1
// in namespaces, runs the build with the full hardening of the unit.

const VETWIRE = `${process.execPath} ${path.join(ROOT, "dist/shared/main.js")}`;
const WAIT = { timeout: 30_000, interval: 500 };

const AGENT_YAML = `server: { url: "http://127.0.0.1:9", keyFile: agent.key }
data: /var/lib/vetwire/agent
timeZone: Europe/Istanbul
devices:
  - { id: vs2, profile: abaxis-vetscan-vs2, connection: { listen: "127.0.0.1:104" } }
`;

const folder = temporaryFolder();
const booted = ROOT.startsWith("/tmp/")
  ? "a systemd of its own has another /tmp, expected a checkout elsewhere"
  : await bootSystemd(folder);
if (typeof booted === "string") process.stderr.write(`services are not tried under systemd: ${booted}\n`);

describe.skipIf(typeof booted === "string")("a program under systemd", () => {
  const systemd = booted as Systemd;

  afterAll(() => systemd.stop());

  function vetwire(words: string): { code: number | null; stdout: string; stderr: string } {
    return systemd.run(`cd /; ${VETWIRE} service ${words}`);
  }

  function writeConfig(text: string): void {
    systemd.run(`cat > /etc/vetwire/agent.yaml <<'END'\n${text}END
echo sk_live_${"a".repeat(40)} > /etc/vetwire/agent.key; chmod 600 /etc/vetwire/*; chown vetwire: /etc/vetwire/*`);
  }

  test("is installed, and serves the page that sets it up, as a user without rights", async () => {
    expect(vetwire("install agent")).toEqual({
      code: 0,
      stdout: "installed and started vetwire-agent\nopen http://127.0.0.1:8081 on this machine to set the agent up\n",
      stderr: "",
    });
    await vi.waitFor(() => expect(systemd.run("curl -sf http://127.0.0.1:8081/").code).toBe(0), WAIT);
    const { code, stdout } = vetwire("status");
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^vetwire-agent: running since .*\n  program        agent \d/),
    ]);
    expect(systemd.run("ps -o user= -p $(pgrep -d, -f '[/]node ') | sort -u").stdout.trim()).toBe("vetwire");
    const refused = vetwire("install agent");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("vetwire-agent is installed already")]);
  });

  test("reports in words why a refused configuration ended it, and does not start again", async () => {
    writeConfig("server: { url: nonsense, keyFile: agent.key }\ndata: data\ntimeZone: Europe/Istanbul\ndevices: []\n");
    systemd.run("systemctl restart vetwire-agent");
    await vi.waitFor(() => expect(vetwire("status agent").stdout).toMatch(/^vetwire-agent: failed with code 78/), WAIT);
    const { code, stdout } = vetwire("status agent");
    expect(code).toBe(1);
    expect(stdout).toMatch(/less than a minute ago: it ended with code 78: .*agent\.yaml:1: server\.url is "nonsense"/);
    expect(vetwire("logs agent --lines 20").stdout).toContain('server.url is "nonsense"');
    const [status] = JSON.parse(vetwire("status agent --json").stdout) as {
      state: string;
      failures: { code: number }[];
    }[];
    expect([status?.state, status?.failures[0]?.code]).toEqual(["failed", 78]);
  });

  test("listens on a port below 1024, and comes back after kill -9", async () => {
    writeConfig(AGENT_YAML);
    expect(vetwire("start agent").code).toBe(0);
    const connects = `${process.execPath} -e 'require("net").connect(104, "127.0.0.1", () => process.exit(0)).on("error", () => process.exit(1))'`;
    await vi.waitFor(() => expect(systemd.run(connects).code).toBe(0), WAIT);
    systemd.run("kill -9 $(pgrep -f 'agent run')");
    await vi.waitFor(
      () => expect(vetwire("status agent").stdout).toMatch(/failed with code 1, starts again at 20/),
      WAIT,
    );
    await vi.waitFor(() => expect(systemd.run(connects).code).toBe(0), WAIT);
    expect(vetwire("status agent").stdout).toMatch(/running since [^]*it was ended by SIGKILL/);
  });

  test("reports a port that another program has, and gets its own by further options", async () => {
    systemd.run(
      `systemd-run --unit=neighbour ${process.execPath} -e 'require("net").createServer().listen(8080, "127.0.0.1")'`,
    );
    onTestFinished(() => void vetwire("uninstall server"));
    expect(vetwire("install server").code).toBe(0);
    const reason = /port 8080 of 127\.0\.0\.1 is in use, choose another with --port/;
    await vi.waitFor(() => expect(vetwire("status server").stdout).toMatch(reason), WAIT);
    systemd.run("echo 'RUN_OPTIONS=\"--port 8090\"' > /etc/default/vetwire-server");
    await vi.waitFor(() => expect(systemd.run("curl -sf http://127.0.0.1:8090/dashboard").code).toBe(0), WAIT);
  });

  test("runs from a checkout in a home folder that is closed to others, under a name of its own", async () => {
    const home = "/home/ayse/vet wire";
    systemd.run(`mkdir -p '${home}'; cp -r ${ROOT}/dist ${ROOT}/package.json '${home}'
ln -s ${ROOT}/node_modules '${home}/node_modules'; chmod 700 /home/ayse; mkdir -m 777 /mnt/copies`);
    const install = `service install server --name lab --writable /mnt/copies -- --port 8091`;
    expect(systemd.run(`${process.execPath} '${home}/dist/shared/main.js' ${install}`).code).toBe(0);
    onTestFinished(() => void vetwire("uninstall server --name lab"));
    await vi.waitFor(() => expect(systemd.run("curl -sf http://127.0.0.1:8091/dashboard").code).toBe(0), WAIT);
    expect(vetwire("status server --name lab").stdout).toContain("data           /var/lib/vetwire/lab\n");
  });

  test("stops within its time, and leaves its data when it is removed", () => {
    const since = Date.now();
    expect(vetwire("stop agent").stdout).toBe("stopped vetwire-agent\n");
    expect(Date.now() - since).toBeLessThan(15_000);
    expect(vetwire("status agent").stdout).toMatch(
      /^vetwire-agent: stopped: start it with "vetwire service start agent"/,
    );
    expect(vetwire("uninstall agent").stdout).toBe(
      "removed vetwire-agent; /etc/vetwire/agent.yaml and /var/lib/vetwire/agent stay\n",
    );
    expect(systemd.run("systemctl list-unit-files 'vetwire*' --no-legend").stdout).toBe("");
    expect(systemd.run("ls /etc/vetwire/agent.yaml /var/lib/vetwire/agent/spool.db").code).toBe(0);
    const { code, stderr } = vetwire("status");
    expect([code, stderr]).toEqual([1, expect.stringContaining("vetwire-agent is not installed")]);
  });

  test("cannot be changed by a user who is not an administrator", () => {
    const asNobody = "setpriv --reuid 65534 --clear-groups --inh-caps=-all";
    const { code, stderr } = systemd.run(`cd /; ${asNobody} ${VETWIRE} service install agent --name 'vetwire-x'`);
    expect([code, stderr]).toEqual([
      1,
      "an administrator has to do this: sudo vetwire service install agent --name vetwire-x\n",
    ]);
  });
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));
