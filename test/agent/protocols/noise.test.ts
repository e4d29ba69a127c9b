import { expect, test } from "vitest";
import { createLink } from "../../../agent/connection/create-link.ts";
import { protocolOf } from "../../../agent/devices/detection/foreign-protocol.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { bytes, sessionOf } from "./astm/wire.ts";
import { fixedContext } from "../../support/protocols/wire.ts";

test.each(["generic-hl7", "generic-astm-raw", "radiometer-abl9"])(
  "frames of an ASTM device at the port of %s are named: their checksums cover the line ends of the noise",
  (profile) => {
    const link = createLink(profileById(profile)!, fixedContext);
    const session = bytes(sessionOf("H|\\^&|||Analyzer", "P|1|4711", "R|1|^^^ALT|52|U/L", "L|1|N"));
    const actions = [...link.receive(session), ...link.close()];
    const heads = actions.flatMap((action) => (action.do === "warn" && action.noise ? [action.noise.head] : []));
    expect(heads.map(protocolOf)).toEqual(["LIS01-A2 frames"]);
  },
);
