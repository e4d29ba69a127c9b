import type * as connections from "../../agent/connection/connection.ts";
import type * as devices from "../../agent/devices/index.ts";
import type { Profile } from "../../agent/devices/profile.ts";
import type * as spools from "../../agent/spool/spool.ts";
import type * as transports from "../../agent/transport/tcp.ts";
import { fromBuild } from "./build.ts";

// The agent up to the stored message: listener, connection, link and spool from the build, one device per port.

const [folder = "", profileId = "", ...ports] = process.argv.slice(2);
const { Connection } = await fromBuild<typeof connections>("agent/connection/connection.ts");
const { Spool } = await fromBuild<typeof spools>("agent/spool/spool.ts");
const { listenTransport } = await fromBuild<typeof transports>("agent/transport/tcp.ts");
const { profileById } = await fromBuild<typeof devices>("agent/devices/index.ts");

const profile = profileById(profileId) as Profile;
const spool = await Spool.open(folder);
for (const port of ports) {
  const transport = listenTransport({ host: "127.0.0.1", port: Number(port) }, []);
  new Connection({ id: `device-${port}`, profile, timeZone: "UTC" }, transport, {
    spool,
    events: {
      connected: () => undefined,
      disconnected: () => undefined,
      lineChanged: () => undefined,
      bytes: () => undefined,
      refused: () => undefined,
      warning: (reason) => process.stderr.write(`${reason}\n`),
      refusal: (reason) => process.stderr.write(`${reason}\n`),
    },
    messages: { message: () => undefined },
  }).open();
}
setImmediate(() => process.stdout.write("ready\n")); // the ports listen after this turn of the event loop
