import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { SetupAnswer, type SetupView } from "../types/setup.ts";
import type { Host } from "../../host.ts";
import { pairWith } from "../../setup/pairing.ts";
import { Setup } from "../../setup/setup.ts";
import { PageError } from "./page-error.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";

const body = compileLater(Type.Object({ turn: Type.Integer(), answer: SetupAnswer }, { additionalProperties: false }));

/** Adds the set-up: the step that is shown, and the answers to it. All pages of this agent show one set-up. */
export function setupRoutes(app: FastifyInstance, host: Host): void {
  const setup = new Setup(host, pairWith(host));
  app.addHook("onClose", () => setup.stop());
  app.route({ method: "GET", url: "/local/v1/setup", handler: (): Promise<SetupView> => setup.view() });
  app.post("/local/v1/setup", async ({ body: sent }): Promise<SetupView> => {
    if (!body.Check(sent)) throw new PageError(400, "the answer is not complete: load the page again");
    const fault = await setup.answer(sent.turn, sent.answer);
    if (fault !== null) throw new PageError(422, fault);
    return setup.view();
  });
}
