import type { Language } from "../api/language.ts";
import type { Reason, ReasonOf } from "../api/reason.ts";
import { type Advised, advisedText } from "../runtime/advised.ts";

// Why the line to a device is down, with the remedy: the words of the codes in the heartbeat. Agent, server and both pages make them here.

type Words = (...values: readonly string[]) => Advised;

const advised = (fault: string, remedy: string | null = null): Advised => ({ fault, remedy });

const english = {
  "PORT.MISSING": (path) =>
    advised(`no such port ${path}`, 'plug its adapter in, or take a path that "agent ports" lists'),
  "PORT.FORBIDDEN": (path, user) =>
    advised(
      `no permission for ${path}`,
      `add the user to the group dialout (sudo usermod -a -G dialout ${user}), then sign in again`,
    ),
  "PORT.IN_USE": (path, ...programs) =>
    advised(`${path} is in use by ${holdersIn("en", programs)}`, "close that program"),
  "PORT.NOT_SERIAL": (path) => advised(`${path} is not a serial port`, 'take a path that "agent ports" lists'),
  "PORT.FAULT": (path, message) => advised(`${path}: ${message}`),
  "FOLDER.MISSING": (path) =>
    advised(`no such folder ${path}`, "create it, or correct connection.folder of the device"),
  "FOLDER.NOT_ONE": (path) => advised(`${path} is not a folder`, "correct connection.folder of the device"),
  "FOLDER.FORBIDDEN": (path, user) =>
    advised(`no permission for ${path}`, `let the user ${user}, as which the agent runs, read and write it`),
  "FOLDER.FAULT": (path, message) => advised(`${path}: ${message}`),
  "PROFILE.MISSING": (profile, problem) =>
    advised(
      `the profile ${profile} is not in the data folder${problem === "" ? "" : ` (${problem})`}`,
      "import it (agent profile import FILE), or set another one",
    ),
  "PROFILE.CHANGED": (profile, problem) =>
    advised(`the profile ${profile} was changed: ${problem}`, "restore its file, or import it as a new revision"),
  "PROFILE.FAULTY": (profile, problem) =>
    advised(`the profile ${profile} cannot be read: ${problem}`, "import a corrected revision and adopt it"),
  "LISTEN.IN_USE": (port, ...programs) =>
    advised(`port ${port} is in use by ${holdersIn("en", programs)}`, "end that program, or choose another port"),
  "LISTEN.NOT_OWN": (host, own) =>
    advised(`${host} is not an address of this machine, which has ${own}`, "take one of them, or 0.0.0.0 for all"),
  "LISTEN.FORBIDDEN": (port, user) =>
    advised(
      `no permission for port ${port}, which the user ${user} may not open`,
      "choose a port from 1024 up, or let the agent use lower ones (sudo systemctl edit vetwire-agent, then AmbientCapabilities=CAP_NET_BIND_SERVICE under [Service])",
    ),
  "LISTEN.RESERVED": (port) =>
    advised(
      `Windows keeps port ${port} for itself`,
      'choose another port, or look at "netsh interface ipv4 show excludedportrange tcp"',
    ),
  "LISTEN.UNKNOWN_HOST": (host) =>
    advised(`unknown host name ${host}`, "take an address of this machine, or 0.0.0.0 for all"),
  "LISTEN.FAULT": (place, message) => advised(`${place}: ${message}`),
  "DIAL.NO_ROUTE": (host) =>
    advised(`no route to ${host}`, "switch the device on, and look whether it is in the network of this machine"),
  "DIAL.REFUSED": (place, port) =>
    advised(`refused by ${place}`, `switch the device on, and compare its port with ${port}`),
  "DIAL.TIMED_OUT": (place, host) =>
    advised(`timed out, no answer from ${place}`, `switch the device on, and compare its address with ${host}`),
  "DIAL.UNKNOWN_HOST": (host) => advised(`unknown host name ${host}`, "take the device's address in its place"),
  "DIAL.FAULT": (place, message) => advised(`${place}: ${message}`),
  "TLS.NOT_SPOKEN": (place) =>
    advised(
      `TLS with ${place} failed: the device does not speak TLS, or closed the connection`,
      "compare its settings with tls",
    ),
  "TLS.UNTRUSTED": (place, message) =>
    advised(`TLS with ${place} failed: ${message}`, "name in tls.ca who signed the device's certificate"),
  "TLS.FAULT": (place, message) => advised(`TLS with ${place} failed: ${message}`),
} as const satisfies Record<string, Words>;

export type LineCode = keyof typeof english;
/** The code of a fault of the second connection, for replies. Its values are the code and the values of the fault. */
export const OF_REPLIES = "LINE.OF_REPLIES";
export type LineReason = ReasonOf<LineCode | typeof OF_REPLIES>;

const turkish: Record<LineCode, Words> = {
  "PORT.MISSING": (path) =>
    advised(`${path} adlı port yok`, 'adaptörünü takın ya da "agent ports" komutunun gösterdiği bir yolu alın'),
  "PORT.FORBIDDEN": (path, user) =>
    advised(
      `${path} için izin yok`,
      `kullanıcıyı dialout grubuna ekleyin (sudo usermod -a -G dialout ${user}), sonra yeniden oturum açın`,
    ),
  "PORT.IN_USE": (path, ...programs) =>
    advised(`${path} kullanımda: ${holdersIn("tr", programs)}`, "o programı kapatın"),
  "PORT.NOT_SERIAL": (path) =>
    advised(`${path} bir seri port değil`, '"agent ports" komutunun gösterdiği bir yolu alın'),
  "PORT.FAULT": (path, message) => advised(`${path}: ${message}`),
  "FOLDER.MISSING": (path) =>
    advised(`${path} klasörü yok`, "oluşturun ya da cihazın connection.folder değerini düzeltin"),
  "FOLDER.NOT_ONE": (path) => advised(`${path} bir klasör değil`, "cihazın connection.folder değerini düzeltin"),
  "FOLDER.FORBIDDEN": (path, user) =>
    advised(`${path} için izin yok`, `ajanın çalıştığı ${user} kullanıcısına okuma ve yazma izni verin`),
  "FOLDER.FAULT": (path, message) => advised(`${path}: ${message}`),
  "PROFILE.MISSING": (profile, problem) =>
    advised(
      `${profile} profili veri klasöründe yok${problem === "" ? "" : ` (${problem})`}`,
      "onu içe aktarın (agent profile import DOSYA) ya da başka bir profil seçin",
    ),
  "PROFILE.CHANGED": (profile, problem) =>
    advised(
      `${profile} profili değiştirilmiş: ${problem}`,
      "dosyasını geri yükleyin ya da yeni bir revizyon olarak içe aktarın",
    ),
  "PROFILE.FAULTY": (profile, problem) =>
    advised(`${profile} profili okunamıyor: ${problem}`, "düzeltilmiş bir revizyonu içe aktarın ve ona geçin"),
  "LISTEN.IN_USE": (port, ...programs) =>
    advised(
      `${port} numaralı port kullanımda: ${holdersIn("tr", programs)}`,
      "o programı kapatın ya da başka bir port seçin",
    ),
  "LISTEN.NOT_OWN": (host, own) =>
    advised(`${host} bu bilgisayarın adresi değil, adresleri: ${own}`, "birini ya da hepsi için 0.0.0.0 alın"),
  "LISTEN.FORBIDDEN": (port, user) =>
    advised(
      `${port} numaralı port için izin yok, ${user} kullanıcısı onu açamaz`,
      "1024 ya da üstü bir port seçin, yoksa ajana daha düşük portlar için izin verin (sudo systemctl edit vetwire-agent, sonra [Service] altında AmbientCapabilities=CAP_NET_BIND_SERVICE)",
    ),
  "LISTEN.RESERVED": (port) =>
    advised(
      `Windows ${port} numaralı portu kendine ayırmış`,
      'başka bir port seçin ya da "netsh interface ipv4 show excludedportrange tcp" komutuna bakın',
    ),
  "LISTEN.UNKNOWN_HOST": (host) =>
    advised(`${host} adı bilinmiyor`, "bu bilgisayarın bir adresini ya da hepsi için 0.0.0.0 alın"),
  "LISTEN.FAULT": (place, message) => advised(`${place}: ${message}`),
  "DIAL.NO_ROUTE": (host) =>
    advised(`${host} adresine yol yok`, "cihazı açın ve bu bilgisayarın ağında olup olmadığına bakın"),
  "DIAL.REFUSED": (place, port) =>
    advised(`${place} bağlantıyı reddetti`, `cihazı açın ve portunu ${port} ile karşılaştırın`),
  "DIAL.TIMED_OUT": (place, host) =>
    advised(`${place} yanıt vermedi, süre doldu`, `cihazı açın ve adresini ${host} ile karşılaştırın`),
  "DIAL.UNKNOWN_HOST": (host) => advised(`${host} adı bilinmiyor`, "yerine cihazın adresini alın"),
  "DIAL.FAULT": (place, message) => advised(`${place}: ${message}`),
  "TLS.NOT_SPOKEN": (place) =>
    advised(
      `${place} ile TLS kurulamadı: cihaz TLS bilmiyor ya da bağlantıyı kapattı`,
      "ayarlarını tls ile karşılaştırın",
    ),
  "TLS.UNTRUSTED": (place, message) =>
    advised(`${place} ile TLS kurulamadı: ${message}`, "cihazın sertifikasını imzalayanı tls.ca altında belirtin"),
  "TLS.FAULT": (place, message) => advised(`${place} ile TLS kurulamadı: ${message}`),
};

/** The value of a program that is this agent, with another device. */
export const OWN_HOLDER = "agent";

const holders = {
  en: { own: "another device of this agent", unknown: "another program" },
  tr: { own: "bu ajanın başka bir cihazı", unknown: "başka bir program" },
} as const;

/** Names the programs that hold a port. None is known where the system does not name them. */
function holdersIn(language: Language, programs: readonly string[]): string {
  const { own, unknown } = holders[language];
  return programs.length === 0 ? unknown : programs.map((name) => (name === OWN_HOLDER ? own : name)).join(", ");
}

/** Returns the fault and its remedy. @returns null for a code of another version */
export function lineAdvice({ code, values }: Reason, language: Language = "en"): Advised | null {
  if (code === OF_REPLIES) {
    const [inner = "", ...rest] = values;
    const found = lineAdvice({ code: inner, values: rest }, language);
    const named = language === "tr" ? "yanıt bağlantısı:" : "the reply connection,";
    return found && { ...found, fault: `${named} ${found.fault}` };
  }
  const tables: Record<Language, Readonly<Partial<Record<string, Words>>>> = { en: english, tr: turkish };
  return tables[language][code]?.(...values) ?? null;
}

/** Returns the fault and its remedy as one sentence. @returns null for a code of another version */
export function lineText(reason: Reason, language: Language = "en"): string | null {
  const found = lineAdvice(reason, language);
  return found && advisedText(found);
}
