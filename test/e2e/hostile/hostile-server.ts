import { buildApp } from "../../../server/app.ts";
import { loadPepper } from "../../../server/http/auth/pepper.ts";
import { openStore } from "../../../server/database/open.ts";
import { hostileLimits, hostileTimeouts } from "./hostile-timeouts.ts";

// The server of hostile.long.test.ts: the app over the data folder of the first argument, with short timeouts.

const [, , data = ""] = process.argv;
const store = await openStore(data);
const app = buildApp(store, { pepper: loadPepper(data, true), limits: hostileLimits, timeouts: hostileTimeouts });
process.stdout.write(`listening on ${await app.listen({ port: 0, host: "127.0.0.1" })}\n`);
