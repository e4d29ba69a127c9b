import { expect, test } from "vitest";
import { encodeMllp } from "../../../agent/protocols/mllp.ts";
import { bytes } from "./astm/wire.ts";

test("a frame holds VT, the message, FS and CR", () => {
  expect(encodeMllp(bytes("MSH|1"))).toEqual(Uint8Array.from(bytes("<VT>MSH|1<FS><CR>")));
});
