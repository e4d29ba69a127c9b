import { newUlid } from "../../../shared/api/fp.ts";
import { readSex } from "../../../shared/clinical/sex.ts";
import type { Profile } from "../../devices/profile.ts";
import { encodeReply, readQuery } from "../../protocols/astm/orders.ts";
import type { AstmProfile } from "../../protocols/astm/profile.ts";
import { parseRecords } from "../../protocols/astm/records.ts";
import { stampOf } from "../../protocols/hl7/message/acknowledgement-message.ts";
import { readOrderQuery } from "../../protocols/hl7/order-query.ts";
import type { Directory } from "../patient-directory.ts";
import { encodeReplies } from "../../protocols/hl7/orders.ts";
import { parseMessage } from "../../protocols/hl7/message/message.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import type { OrderMessage, OrderReply } from "../../protocols/order-query.ts";
import { patientPart } from "../../protocols/poct1/topics.ts";
import { encodeParts } from "../../protocols/poct1/message.ts";
import { readPoct1Query } from "../../protocols/poct1/read.ts";
import type { TextProfile } from "../../protocols/text/profile.ts";
import type { Spool } from "../../spool/spool.ts";
import type { StoredMessage } from "../../spool/queries/messages/message-row.ts";
import { writeTime, zonedTime } from "../../report/device-time.ts";
import { OrderLookup } from "./order-lookup.ts";
import { orderQueryOf, textOrders } from "./text-orders.ts";

/** Replies to the host queries of analyzers, in the protocol of each. */
export class HostQueries {
  readonly #orders: OrderLookup;

  constructor(spool: Spool, directory: Directory) {
    this.#orders = new OrderLookup(spool, directory);
  }

  /** Builds the replies to a query. @returns none if the message is not a query, or its device takes no orders */
  async reply(message: StoredMessage, profile: Profile, timeZone: string): Promise<readonly OrderMessage[]> {
    if (message.incomplete !== null) return [];
    switch (profile.protocol) {
      case "astm":
        return this.#replyAstm(message, profile, timeZone);
      case "hl7":
        return this.#replyHl7(message, profile, timeZone);
      case "poct1a":
        return this.#replyPoct1(message);
      case "text":
        return this.#replyText(message, profile, timeZone);
      case "file":
        return [];
    }
  }

  async #replyAstm(
    { bytes, device }: StoredMessage,
    profile: AstmProfile,
    timeZone: string,
  ): Promise<readonly OrderMessage[]> {
    if (profile.orders === undefined) return [];
    const parsed = parseRecords(bytes);
    if ("problem" in parsed || profile.sender?.test(parsed.records[0]!.field(5)) === false) return [];
    const query = readQuery(parsed);
    if (query === null) return [];
    const now = Date.now();
    const { replies, problem } = await this.#orders.find({ id: device, timeZone }, query, now);
    return [
      {
        message: encodeReply({ ...query, problem }, replies, profile.orders, writeTime(now, timeZone)),
        accessions: accessionsOf(replies),
      },
    ];
  }

  async #replyHl7(
    { bytes, device }: StoredMessage,
    profile: Hl7Profile,
    timeZone: string,
  ): Promise<readonly OrderMessage[]> {
    if (profile.orders === undefined) return [];
    const parsed = parseMessage(bytes, profile.link);
    if ("problem" in parsed) return [];
    const query = readOrderQuery(parsed);
    if (query === null) return [];
    const { replies } = await this.#orders.find(
      { id: device, timeZone, tests: profile.orders.tests?.pattern },
      query,
      Date.now(),
    );
    return encodeReplies(query, replies, profile.orders, () =>
      stampOf({ now: () => zonedTime(Date.now(), timeZone), newId: newUlid }),
    );
  }

  async #replyText(
    { bytes, device }: StoredMessage,
    { orders }: TextProfile,
    timeZone: string,
  ): Promise<readonly OrderMessage[]> {
    const query = orders?.readQuery(Buffer.from(bytes).toString("latin1")) ?? null;
    if (orders === undefined || query === null) return [];
    const { replies } = await this.#orders.find(
      { id: device, timeZone, tests: orders.tests.pattern },
      orderQueryOf(query),
      Date.now(),
    );
    const listed = textOrders(replies).slice(0, query.max);
    return [
      {
        message: Buffer.from(orders.encodeReply(query, listed), "latin1"),
        accessions: query.withTests ? listed.map(({ specimen }) => specimen) : [],
      },
    ];
  }

  /** Replies to the query of a POCT1-A device for the patient of an identifier. */
  async #replyPoct1({ bytes, device }: StoredMessage): Promise<readonly OrderMessage[]> {
    const query = readPoct1Query(bytes);
    if (query === null) return [];
    const patient = await this.#orders.findPatient(device, query.patient);
    const listed =
      patient === null
        ? null
        : {
            id: query.patient,
            name: patient.name,
            bornOn: patient.date_of_birth,
            sex: readSex(patient.sex),
            weightKg: patient.weight_kg,
          };
    return [{ message: encodeParts([patientPart(query.answer, listed)]), accessions: [] }];
  }
}

function accessionsOf(replies: readonly OrderReply[]): string[] {
  const orders = replies.flatMap((reply) => reply.orders);
  // A partial order stays open, because the device has yet to query the rest.
  return orders.filter(({ report, partial }) => report === "Q" && partial !== true).map(({ specimen }) => specimen);
}
