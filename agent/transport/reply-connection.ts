import { type LineFault, type LineState, ofReplies } from "../states/line-state.ts";
import type { Transport, Wire } from "./transport.ts";

/** Replies that wait for an open reply connection. Beyond it the agent discards the oldest. */
const REPLIES_WAITING_MAX = 20;

/**
 * Sends the replies to `device` on the separate connections of `replies`, for devices that require it. A reply leaves on the
 * latest connection, or waits for the next one.
 */
export function withReplyConnection(device: Transport, replies: Transport): Transport {
  let out: Wire | null = null;
  const waiting: Uint8Array[] = [];
  const write: Wire["write"] = (bytes, left) => {
    if (out !== null) return out.write(bytes, left);
    waiting.push(bytes);
    if (waiting.length > REPLIES_WAITING_MAX) waiting.shift();
    left?.(); // the bound above replaces the backpressure
  };
  return {
    open(accept, problem, stateChanged = () => undefined, refused = () => undefined) {
      // A fault of either connection keeps replies from the device, so either one is reported.
      let [repliesFault, deviceState]: [LineFault | null, LineState] = [null, { is: "opening" }];
      const reportState = () => stateChanged("reason" in deviceState ? deviceState : (repliesFault ?? deviceState));
      replies.open(
        (wire) => {
          repliesFault = null;
          reportState();
          out = wire;
          for (const bytes of waiting.splice(0)) wire.write(bytes);
          let isReported = false;
          return {
            chunk() {
              if (!isReported) problem("the device sends on the reply connection: the agent discards its bytes");
              isReported = true;
            },
            closed() {
              if (out === wire) out = null;
            },
          };
        },
        (reason) => problem(`the reply connection ${reason}`),
        (state) => {
          repliesFault = "reason" in state ? ofReplies(state) : null;
          reportState();
        },
        refused,
      );
      device.open(
        (wire) => accept({ ...wire, write }),
        problem,
        (state) => {
          deviceState = state;
          reportState();
        },
        refused,
      );
    },
    async close() {
      await Promise.all([device.close(), replies.close()]);
    },
  };
}
