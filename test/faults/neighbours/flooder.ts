import os from "node:os";
import { beginFlood } from "./floods.ts";

// A hostile client as a process of its own, so that its work does not delay the measurement. It starts the flood that each message
// names, and ends it at the message "end".

export type FloodOrder = { readonly flood: string; readonly port: number } | "end";

// A client on another machine takes no processor time of the agent.
os.setPriority(10);

let end: () => void = () => undefined;

process.on("message", (order: FloodOrder) => {
  end();
  end = order === "end" ? () => undefined : beginFlood(order.flood, order.port);
  process.send?.("done");
});
process.send?.("ready");
