import type { LineFault, LineState } from "../states/line-state.ts";
import type { Transport, Wire } from "./transport.ts";

/** Replies that wait for the connection on which the device takes them; of more, the oldest is dropped. */
const REPLIES_WAITING_MAX = 20;

/**
 * Replies leave on connections of their own, for devices that take them nowhere else: on the last one made, whichever
 * connection asked. One that does not stand yet is waited for.
 */
export function repliesOn(replies: Transport, device: Transport): Transport {
  let out: Wire | null = null;
  const waiting: Uint8Array[] = [];
  const write: Wire["write"] = (bytes, left) => {
    if (out !== null) return out.write(bytes, left);
    waiting.push(bytes);
    if (waiting.length > REPLIES_WAITING_MAX) waiting.shift();
    left?.(); // their number is bounded here
  };
  return {
    open(accept, problem, stands = () => undefined) {
      // A problem of either connection keeps the device from its answers.
      let [repliesFault, deviceState]: [LineFault | null, LineState] = [null, { is: "opening" }];
      const tellState = () => stands("reason" in deviceState ? deviceState : (repliesFault ?? deviceState));
      replies.open(
        (wire) => {
          repliesFault = null;
          tellState();
          out = wire;
          for (const bytes of waiting.splice(0)) wire.write(bytes);
          let told = false;
          return {
            chunk() {
              if (!told) problem("the device speaks on the connection for replies: not heard");
              told = true;
            },
            closed() {
              if (out === wire) out = null;
            },
          };
        },
        (reason) => problem(`the connection for replies ${reason}`),
        (state) => {
          repliesFault = "reason" in state ? { ...state, reason: `the connection for replies, ${state.reason}` } : null;
          tellState();
        },
      );
      device.open(
        (wire) => accept({ ...wire, write }),
        problem,
        (state) => {
          deviceState = state;
          tellState();
        },
      );
    },
    async close() {
      await Promise.all([device.close(), replies.close()]);
    },
  };
}
