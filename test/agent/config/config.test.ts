import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../../agent/config/load.ts";
import type { Config } from "../../../agent/config/values/schema.ts";
import { parseAddress } from "../../../agent/transport/address.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { profiles } from "../../../agent/devices/index.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_not-a-real-key\n");
  fs.writeFileSync(path.join(folder, "empty.key"), "\n");
  fs.writeFileSync(path.join(folder, "quoted.key"), "“sk_live_not-a-real-key”\n");
  fs.writeFileSync(path.join(folder, "operators.yaml"), "- { id: vt1, name: Elif, level: 1 }\n- { id: vt2 }\n");
  fs.writeFileSync(path.join(folder, "words.yaml"), "vt1 and vt2\n");
  fs.writeFileSync(path.join(folder, "cut.yaml"), '- { id: vt1 }\n- { id: "sk_live_secret }\n');
  fs.writeFileSync(path.join(folder, "twice.yaml"), "- { id: vt1 }\n- { id: vt1 }\n");
});

afterAll(() => fs.rmSync(folder, { recursive: true }));

const good = `
server: { url: "http://127.0.0.1:8080", keyFile: ./agent.key }
data: ./data/agent
timeZone: Europe/Istanbul            # of the devices, for times sent without a zone
status: { listen: "127.0.0.1:8081" }
devices:
  - { id: chem-1,  profile: abaxis-vetscan-vs2, connection: { serial: { path: /dev/ttyUSB0, baudRate: 9600 } } }
  - { id: hema-1,  profile: generic-astm, connection: { listen: "0.0.0.0:2575" }, allow: ["192.168.1.0/24"] }
  - { id: hema-2,  profile: generic-astm, connection: { dial: "192.168.1.50:5500" }, timeZone: UTC, model: XP-100, charset: windows-1254 }
`;
const hl7Device = `  - { id: hema-3, profile: generic-hl7, connection: { listen: "0.0.0.0:2576" }, charset: gb18030, ackMode: aa }
`;

function poct1(operators: string): string {
  return good.replace(
    /( {2}- \{ id: hema-2,).*/,
    `$1 profile: generic-poct1a, connection: { dial: "h:1" }, operatorListFile: ${operators} }`,
  );
}

function problemsOf(text: string): string[] {
  const result = checkConfig(text, folder);
  return "problems" in result ? result.problems.map(({ line, message }) => `${line}: ${message}`) : [];
}

test("a configuration in UTF-16, as PowerShell and Notepad write it, is read", () => {
  const file = path.join(folder, "utf16.yaml");
  fs.writeFileSync(file, Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(good, "utf16le")]));
  expect(loadConfig(file)).toMatchObject({ config: { timeZone: "Europe/Istanbul" } });
});

test("a valid configuration is read with its paths resolved against the folder of the file", () => {
  const file = path.join(folder, "agent.yaml");
  fs.writeFileSync(file, good);
  expect(loadConfig(file)).toEqual({
    config: {
      server: { url: "http://127.0.0.1:8080", keyFile: path.join(folder, "agent.key") },
      data: path.join(folder, "data/agent"),
      timeZone: "Europe/Istanbul",
      status: { host: "127.0.0.1", port: 8081 },
      destinations: [],
      resultDestinations: [],
      images: { keepMs: null, bytesMax: null, freeBytes: null },
      backup: null,
      log: null,
      file: path.join(folder, "agent.yaml"),
      ignored: [],
      profileFaults: [],
      devices: [
        {
          id: "chem-1",
          profile: "abaxis-vetscan-vs2",
          connection: { serial: { path: "/dev/ttyUSB0", baudRate: 9600 } },
        },
        { id: "hema-1", profile: "generic-astm", connection: { listen: "0.0.0.0:2575" }, allow: ["192.168.1.0/24"] },
        {
          id: "hema-2",
          profile: "generic-astm",
          connection: { dial: "192.168.1.50:5500" },
          timeZone: "UTC",
          model: "XP-100",
          charset: "windows-1254",
        },
      ],
    },
  });
});

test("an HL7 device may have an HL7 charset and an ackMode, an ASTM device neither", () => {
  expect(problemsOf(good + hl7Device)).toEqual([]);
  const [charset = "", ackMode = "", ...more] = problemsOf(good + hl7Device.replace("generic-hl7", "generic-astm"));
  expect(charset).toMatch(/^10: devices\[3\]\.charset is gb18030, expected one of cp850, .* for profile generic-astm$/);
  expect([ackMode, ...more]).toEqual(["10: devices[3].ackMode is for HL7 devices, profile generic-astm is not HL7"]);
  expect(problemsOf(good + hl7Device.replace("gb18030", "cp850"))[0]).toMatch(
    /charset is cp850, expected one of utf-8, /,
  );
  expect(problemsOf(good + hl7Device.replace(": aa", ": none"))).toEqual([
    '10: devices[3].ackMode is "none", expected one of auto, original, enhanced, aa',
  ]);
});

test("an imaging device must not have an ackMode", () => {
  const xray = '  - { id: xray, profile: dicom, connection: { listen: "0.0.0.0:11112" }, ackMode: aa }\n';
  expect(problemsOf(good + xray)).toEqual(["10: devices[3].ackMode is for HL7 devices, profile dicom is not HL7"]);
});

test("one check reports all problems by line, with the nearest known key", () => {
  const faulty = `server: { url: "ftp://x", keyfile: ./agent.key }
data: ./data
timezone: Europe/Istanbul
timeZone: Mars/Olympus
devices:
  - id: Chem 1
    profile: abaxis-vetscan-vs3
    connection: { serial: { path: /dev/ttyUSB0, baud: 9600, parity: non } }
  - id: hema
    profile: cobas-b221
    connection: { listen: "0.0.0.0:2575", dial: "1.2.3.4:1" }
    allow: ["192.168.1.0/33"]
  - id: hema
    profile: generic-astm
    connection: { listen: "0.0.0.0:2575" }
`;
  expect(problemsOf(faulty)).toEqual([
    "1: server.keyFile is missing",
    "1: server.keyfile is an unknown key, did you mean keyFile?",
    '1: server.url is "ftp://x", expected an address that begins with http:// or https://',
    "3: timezone is an unknown key, did you mean timeZone?",
    '4: timeZone is "Mars/Olympus", expected an IANA time zone such as Europe/Istanbul',
    '6: devices[0].id is "Chem 1", expected lower-case letters, digits and dashes such as chem-1, at most 63',
    "7: devices[0].profile is abaxis-vetscan-vs3, did you mean abaxis-vetscan-vs2?",
    "8: devices[0].connection.serial.baud is an unknown key, did you mean baudRate?",
    '8: devices[0].connection.serial.parity is "non", expected one of none, even, odd, mark, space',
    `10: devices[1].profile is cobas-b221, expected one of ${[...profiles.map(({ id }) => id), "dicom"].join(", ")}`,
    "11: devices[1].connection has listen and dial, expected exactly one of serial, listen, dial, folder",
    '12: devices[1].allow[0] is "192.168.1.0/33", expected an address or network such as 192.168.1.0/24',
    "13: devices[2].id is hema, which devices[1] has already",
    "15: devices[2].connection.listen is 0.0.0.0:2575, but devices[1].connection.listen listens on that port already",
  ]);
});

describe("single problems", () => {
  test.each([
    [
      "an unknown key without a near one lists all keys",
      good.replace("data:", "zzzzzzz: 1\ndata:"),
      "3: zzzzzzz is an unknown key, expected one of server, proxy, proxyPasswordFile, noProxy, ca, data, timeZone, matchPatientsByName, status, devices, destinations, images, backup, log, managed",
    ],
    ["a missing section", good.replace(/server:.*\n/, ""), "2: server is missing"],
    [
      "no connection",
      good.replace('connection: { dial: "192.168.1.50:5500" }', "connection: {}"),
      "9: devices[2].connection has none, expected exactly one of serial, listen, dial, folder",
    ],
    [
      "a watched folder without a profile that reads files",
      good.replace('{ dial: "192.168.1.50:5500" }', "{ folder: /srv/export }"),
      "9: devices[2].connection.folder is for files, the profile is generic-astm",
    ],
    [
      "a watched folder of another machine",
      `${good}  - { id: pims, profile: practice-files, connection: { folder: //server/export } }\n`,
      "10: devices[3].connection.folder is //server/export, expected a complete path of this machine such as C:\\Export or /srv/export",
    ],
    [
      "a watched folder beside agent.yaml",
      `${good}  - { id: pims, profile: practice-files, connection: { folder: ./export } }\n`,
      "10: devices[3].connection.folder is ./export, expected a complete path of this machine such as C:\\Export or /srv/export",
    ],
    [
      "files of practice software that come from a port",
      `${good}  - { id: pims, profile: practice-files, connection: { listen: "127.0.0.1:4000" } }\n`,
      "10: devices[3].connection has no folder, expected one for the profile practice-files",
    ],
    [
      "keys of a line at a watched folder",
      `${good}  - { id: pims, profile: practice-files, connection: { folder: /srv/export }, allow: ["127.0.0.1"] }\n`,
      "10: devices[3].allow has no effect on a watched folder, the profile is practice-files",
    ],
    [
      "keys of a line at the folder of an analyzer, which may map codes",
      `${good}  - { id: chem-2, profile: idexx-interlink, connection: { folder: /srv/export }, codes: { X: ALT }, charset: windows-1252 }\n`,
      "10: devices[3].charset has no effect on a watched folder, the profile is idexx-interlink",
    ],
    [
      "a device that leaves no file",
      good.replace('{ dial: "192.168.1.50:5500" }', '{ dial: "192.168.1.50:5500", leave: true }'),
      "9: devices[2].connection.leave is for a watched folder",
    ],
    [
      "an address without port",
      good.replace("192.168.1.50:5500", "192.168.1.50"),
      '9: devices[2].connection.dial is "192.168.1.50", expected host:port such as 192.168.1.50:5500',
    ],
    ["a number where text belongs", good.replace("./data/agent", "7"), "3: data is 7, expected a string"],
    [
      "an empty key file",
      good.replace("agent.key", "empty.key"),
      `2: server.keyFile names FOLDER/empty.key, which cannot be used: it holds no API key (one line that begins sk_live_)`,
    ],
    [
      "a key that no HTTP header may have",
      good.replace("agent.key", "quoted.key"),
      `2: server.keyFile names FOLDER/quoted.key, which cannot be used: its character 1 is U+201C, expected one line of printable ASCII`,
    ],
    [
      "a pin over plain http",
      good.replace("keyFile:", `pin: "sha256/${"A".repeat(43)}=", keyFile:`),
      "2: server.pin needs a url that begins with https://, got http://127.0.0.1:8080: pair again, or remove the pin",
    ],
    [
      "a pin of another form",
      good.replace("keyFile:", `pin: "AB:CD", keyFile:`).replace("http:", "https:"),
      '2: server.pin is "AB:CD", expected sha256/ and 44 characters of base64, as pairing writes it',
    ],
    ["no key file", good.replace("agent.key", "no.key"), `2: server.keyFile names FOLDER/no.key, which does not exist`],
    [
      "replies on two connections",
      good.replace(
        'dial: "192.168.1.50:5500"',
        'dial: "192.168.1.50:5500", replyConnection: { dial: "h:1", listen: "2" }',
      ),
      "9: devices[2].connection.replyConnection has both or none, expected exactly one of listen, dial",
    ],
    [
      "replies on a port that is taken",
      good.replace(
        'dial: "192.168.1.50:5500"',
        'dial: "192.168.1.50:5500", replyConnection: { listen: "0.0.0.0:2575" }',
      ),
      "9: devices[2].connection.replyConnection.listen is 0.0.0.0:2575, but devices[1].connection.listen listens on that port already",
    ],
    [
      "replies to a serial line",
      good.replace("baudRate: 9600 }", 'baudRate: 9600 }, replyConnection: { dial: "h:1" }'),
      "7: devices[0].connection.replyConnection is for TCP devices: replies to a serial device leave on its own line",
    ],
    [
      "TLS without a certificate to show",
      good.replace("allow:", "tls: { ca: agent.key }, allow:"),
      "8: devices[1].tls has no certificate, which a listener needs",
    ],
    [
      "TLS on a serial line",
      good.replace("baudRate: 9600 } }", "baudRate: 9600 } }, tls: {}"),
      "7: devices[0].tls is for TCP",
    ],
    [
      "a certificate without its key",
      good.replace("timeZone: UTC", "tls: { certificate: agent.key }"),
      "9: devices[2].tls has one of certificate and key, expected both",
    ],
    [
      "a certificate that is not there",
      good.replace("timeZone: UTC", "tls: { ca: no.crt }"),
      "9: devices[2].tls cannot be used: ENOENT: no such file or directory, open 'FOLDER/no.crt'",
    ],
    [
      "an authority that is not a certificate",
      good.replace("timeZone: UTC", "tls: { ca: agent.key }"),
      "9: devices[2].tls cannot be used: error:0480006C:PEM routines::no start line",
    ],
    [
      "a word that TLS does not have",
      good.replace("timeZone: UTC", "tls: { kay: agent.key }"),
      "9: devices[2].tls.kay is an unknown key, did you mean key?",
    ],
    [
      "operators of a device that takes none",
      good.replace("timeZone: UTC", "operatorListFile: operators.yaml"),
      "9: devices[2].operatorListFile is for POCT1-A devices",
    ],
    [
      "operators in a file that is not there",
      poct1("none.yaml"),
      "9: devices[2].operatorListFile names FOLDER/none.yaml, which does not exist",
    ],
    [
      "operators that are not a list",
      poct1("words.yaml"),
      '9: devices[2].operatorListFile names FOLDER/words.yaml, which cannot be used: expected a list of operators, each begins with "- id:"',
    ],
    [
      "operators in a file of invalid YAML",
      poct1("cut.yaml"),
      '9: devices[2].operatorListFile names FOLDER/cut.yaml, which cannot be used: Missing closing "quote at line 3, column 1',
    ],
    [
      "a duplicate operator",
      poct1("twice.yaml"),
      "9: devices[2].operatorListFile names FOLDER/twice.yaml, which cannot be used: duplicate operator vt1",
    ],
  ])("%s", (_, text, expected) => {
    expect(problemsOf(text)).toEqual([expected.replaceAll("FOLDER", folder)]);
  });

  test("the path of an operator list is resolved against the folder of the file", () => {
    const result = checkConfig(poct1("operators.yaml"), folder);
    expect("config" in result && result.config.devices[2]?.operatorListFile).toBe(path.join(folder, "operators.yaml"));
  });

  test("invalid YAML is reported with its line", () => {
    expect(problemsOf("server: {\ndata: x")[0]).toMatch(/^2: /);
    expect(problemsOf("a: 1\na: 2\n")[0]).toBe("2: Map keys must be unique");
  });

  test("a key with the marks of a path is reported as it is", () => {
    expect(problemsOf(`${good}\n"a/b~c": 1\n`)).toEqual([expect.stringContaining("a/b~c is an unknown key, ")]);
  });

  test.each(["", "7", "[]", "null"])("a file of %j is an invalid configuration", (text) => {
    expect(problemsOf(text).length).toBeGreaterThan(0);
  });
});

describe("images", () => {
  test("the limits of images are read in ms and bytes", () => {
    const result = checkConfig(`${good}images: { retainDays: 365, maxGigabytes: 0.5, minFreeGigabytes: 10 }\n`, folder);
    expect("config" in result && result.config.images).toEqual({
      keepMs: 31_536_000_000,
      bytesMax: 5e8,
      freeBytes: 1e10,
    });
    const none = checkConfig(good, folder);
    expect("config" in none && none.config.images).toEqual({ keepMs: null, bytesMax: null, freeBytes: null });
  });

  test.each([
    ["retainDays: 0", "10: images.retainDays is 0, expected at least 1"],
    ["maxGigabytes: 0", "10: images.maxGigabytes is 0, expected at least 0.001"],
    ["retainDay: 3", "10: images.retainDay is an unknown key, did you mean retainDays?"],
  ])("%s is a problem", (setting, problem) => {
    expect(problemsOf(`${good}images: { ${setting} }\n`)).toEqual([problem]);
  });
});

describe("imaging devices", () => {
  const withDevice = (device: string) => `${good}  - ${device}\n`;
  const xray =
    "{ id: xray, profile: dicom, connection: { listen: 0.0.0.0:11112 }, aeTitle: VETWIRE, callingAeTitles: [DX1] }";

  test("an imaging device may have AE titles, quietSeconds and a modality", () => {
    expect(problemsOf(withDevice(xray.replace(" }", " }, quietSeconds: 60, modality: RADIOLOGY")))).toEqual([]);
  });

  test.each([
    [
      "an imaging device must not be dialled",
      xray.replace("listen: 0.0.0.0:11112", "dial: 10.0.0.1:104"),
      "10: devices[3].connection has dial, expected listen for a DICOM device",
    ],
    [
      "an AE title has at most 16 characters",
      xray.replace("[DX1]", "[DX1, A-TITLE-THAT-IS-LONG]"),
      '10: devices[3].callingAeTitles[1] is "A-TITLE-THAT-IS-LONG", expected 1 to 16 printable ASCII characters without a backslash, no blank at either end',
    ],
    [
      "only an imaging device has an AE title",
      xray.replace("dicom", "generic-astm").replace(", callingAeTitles: [DX1]", ""),
      "10: devices[3].aeTitle belongs to devices with the profile dicom",
    ],
  ])("%s", (_, device, expected) => {
    expect(problemsOf(withDevice(device))).toEqual([expected]);
  });
});

test.each([
  ["127.0.0.1:80", { host: "127.0.0.1", port: 80 }],
  ["2575", { host: "127.0.0.1", port: 2575 }],
  ["[::1]:80", { host: "::1", port: 80 }],
  ["analyzer.lan:5500", { host: "analyzer.lan", port: 5500 }],
  ["127.0.0.1:70000", null],
  ["127.0.0.1", null],
  ["", null],
])("the address %j is parsed", (text, address) => {
  expect(parseAddress(text)).toEqual(address);
});

describe("destinations of images", () => {
  const at = (destination: string) => problemsOf(`${good}destinations:\n  - ${destination}\n`);

  test("a destination has C-STORE or STOW-RS", () => {
    fs.writeFileSync(path.join(folder, "pacs.auth"), "Bearer not-a-real-token\n");
    const result = checkConfig(
      `${good}destinations:
  - { id: pacs, dial: "192.168.1.10:104", aeTitle: PACS }
  - { id: cloud, stow: "https://pacs.example/dicom-web", authorizationFile: ./pacs.auth }
`,
      folder,
    );
    const [pacs, cloud] = "config" in result ? result.config.destinations : [];
    expect(pacs).toEqual({
      id: "pacs",
      way: "store",
      address: { host: "192.168.1.10", port: 104 },
      aeTitle: "PACS",
      callingAeTitle: "VETWIRE",
    });
    const authorizationFile = path.join(folder, "pacs.auth");
    expect(cloud).toEqual({ id: "cloud", way: "stow", url: "https://pacs.example/dicom-web", authorizationFile });
  });

  test("a destination has a bucket, with the files of the folder and defaults for most stores", () => {
    fs.writeFileSync(path.join(folder, "s3.secret"), "not-a-real-secret\n");
    const bucket = 'endpoint: "https://s3.example", bucket: images, accessKeyId: AK, secretFile: ./s3.secret';
    const result = checkConfig(
      `${good}destinations:
  - { id: near, s3: { ${bucket} } }
  - { id: far, s3: { ${bucket}, region: eu-1, prefix: a/b, encryption: "aws:kms", kmsKeyId: k, pathStyle: false } }
`,
      folder,
    );
    const near = {
      id: "near",
      way: "s3",
      endpoint: "https://s3.example",
      bucket: "images",
      region: "us-east-1",
      prefix: "",
      accessKeyId: "AK",
      secretFile: path.join(folder, "s3.secret"),
      encryption: null,
      pathStyle: true,
      ca: null,
    };
    const encryption = { algorithm: "aws:kms", kmsKeyId: "k" };
    expect("config" in result ? result.config.destinations : result).toEqual([
      near,
      { ...near, id: "far", region: "eu-1", prefix: "a/b", encryption, pathStyle: false },
    ]);
  });

  test.each([
    [
      'endpoint: "https://s3.example/images"',
      ".endpoint goes on after the host, expected https://s3.example: the bucket has a key of its own",
    ],
    ['endpoint: "ftp://s3.example"', ".endpoint starts with ftp://, expected https://"],
    ['endpoint: "https://u:p@s3.example"', ".endpoint holds a user or a password, expected the address alone"],
    [
      'endpoint: "s3.example"',
      '.endpoint is "s3.example", expected a URL such as https://s3.eu-central-1.amazonaws.com',
    ],
    [
      'endpoint: "http://10.0.0.9:9000", pathStyle: false',
      ".pathStyle is false, which needs an endpoint with a name: the bucket becomes part of it",
    ],
    [
      "bucket: my.images, pathStyle: false",
      ".pathStyle is false, which needs a bucket without a dot: certificates cover one level",
    ],
    ["kmsKeyId: k, encryption: AES256", ".kmsKeyId needs encryption: aws:kms"],
    ["secretFile: gone", ".secretFile names FOLDER/gone, which does not exist"],
    ["ca: gone", ".ca cannot be used: ENOENT"],
    ["prefix: ../other", '.prefix is "../other", expected a path such as images/clinic-1'],
    ["prefix: /a", '.prefix is "/a", expected a path such as images/clinic-1'],
  ])("a bucket with %s is a problem", (changed, message) => {
    fs.writeFileSync(path.join(folder, "s3.secret"), "not-a-real-secret\n");
    const valid = { endpoint: '"https://s3.example"', bucket: "images", accessKeyId: "AK", secretFile: "s3.secret" };
    const others = Object.entries(valid).filter(([key]) => !changed.includes(`${key}:`));
    const bucket = [changed, ...others.map(([key, value]) => `${key}: ${value}`)].join(", ");
    const found = at(`{ id: vault, s3: { ${bucket} } }`).map((line) => line.replace(/^\d+: /, ""));
    const start = `destinations[0].s3${message}`.replace("FOLDER", folder);
    expect(found).toEqual([expect.stringContaining(start)]);
  });

  test.each([
    ["{ id: pacs }", "destinations[0] has none of dial, stow and s3, expected one"],
    ['{ id: pacs, dial: "1.2.3.4:104" }', "destinations[0] has no aeTitle, which C-STORE needs"],
    [
      '{ id: pacs, dial: "1.2.3.4", aeTitle: PACS }',
      'destinations[0].dial is "1.2.3.4", expected host:port such as 192.168.1.10:104',
    ],
    [
      '{ id: pacs, dial: "1.2.3.4:104", aeTitle: PACS, stow: "http://x" }',
      "destinations[0] has dial and stow, expected one",
    ],
    ['{ id: pacs, stow: "http://x", aeTitle: PACS }', "destinations[0].aeTitle belongs to destinations with dial"],
    [
      '{ id: pacs, stow: "ftp://x" }',
      'destinations[0].stow is "ftp://x", expected an address that begins with http:// or https://',
    ],
    [
      '{ id: pacs, stow: "http://x", authorizationFile: gone }',
      "destinations[0].authorizationFile names FOLDER/gone, which does not exist",
    ],
    [
      '{ id: pacs, stow: "http://x" }\n  - { id: pacs, stow: "http://y" }',
      "destinations[1].id is pacs, which destinations[0] has already",
    ],
  ])("%s: %s", (destination, message) => {
    const found = at(destination).map((line) => line.replace(/^\d+: /, ""));
    expect(found).toContain(message.replace("FOLDER", folder));
  });
});

test("alerts of an earlier version's agent.yaml is valid with any content, and a warning recommends its removal", () => {
  for (const part of ["alerts: { email: { to: [nurse@clinic.example] } }", "alerts: 1"]) {
    const checked = checkConfig(`${good}\n${part}\n`, folder);
    expect(checked).toMatchObject({
      config: { ignored: ["alerts has no effect, because the server sends the alerts"] },
    });
    expect("config" in checked && "alerts" in checked.config).toBe(false);
  }
});

test("a number is the text that the file has wherever text is expected: a port alone, a title, a code's analyte", () => {
  const { config } = checkConfig(
    [
      'server: { url: "http://127.0.0.1:8080", keyFile: ./agent.key }',
      "data: ./data",
      "timeZone: UTC",
      "status: { listen: 8081 }",
      "devices:",
      "  - { id: 1, profile: generic-hl7, connection: { listen: 4003, replyConnection: { dial: 4004 } }, model: 0800 }",
      "  - { id: xray, profile: dicom, connection: { listen: 11112 }, aeTitle: 4711, callingAeTitles: [12] }",
    ].join("\n"),
    folder,
  ) as { config: Config };
  expect(config.status).toEqual({ host: "127.0.0.1", port: 8081 });
  expect(config.devices).toEqual([
    {
      id: "1",
      profile: "generic-hl7",
      connection: { listen: "4003", replyConnection: { dial: "4004" } },
      model: "0800",
    },
    { id: "xray", profile: "dicom", connection: { listen: "11112" }, aeTitle: "4711", callingAeTitles: ["12"] },
  ]);
});

test("a file whose aliases repeat without bound is refused in words", () => {
  const levels = ["a: &a [x, x, x, x, x, x, x, x, x]"];
  for (const [name, before] of ["b a", "c b", "d c", "e d"].map((pair) => pair.split(" "))) {
    levels.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(", ")}]`);
  }
  expect(problemsOf(`${levels.join("\n")}\n`)).toEqual([
    "1: the file repeats parts by aliases (*name) too often, expected each device written out",
  ]);
});

test.each(["\\\\\\\\server\\\\share", "//server/share"])("the serial port %s of another machine is refused", (port) => {
  const text = good.replace("/dev/ttyUSB0", `"${port}"`);
  expect(problemsOf(text)).toEqual([
    expect.stringMatching(/^7: .*serial\.path is .*server.share, expected a port of this machine such as COM3$/),
  ]);
  expect(problemsOf(good.replace("/dev/ttyUSB0", '"\\\\\\\\.\\\\COM10"'))).toEqual([]);
});

test("a value in a Windows code page is refused with its line, and a comment in one is read", () => {
  const file = path.join(folder, "windows-1254.yaml");
  const inCodePage = (text: string) => Buffer.from(text.replace("ş", "\u00fe"), "latin1");
  fs.writeFileSync(file, inCodePage(good.replace("./data/agent", "./Ayşe/agent")));
  expect(loadConfig(file)).toEqual({
    problems: [
      {
        line: 3,
        steps: [],
        message: '"./Ay\ufffde/agent" is not UTF-8, expected the file in UTF-8: save it so, or as "Unicode"',
      },
    ],
  });
  fs.writeFileSync(file, inCodePage(`${good}# Ayşe\n`));
  expect(loadConfig(file)).toHaveProperty("config");
});
