import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { Nullable, SHA256_PATTERN, TIMESTAMP_PATTERN } from "../schema/schema.ts";

const Instant = (description: string) => Type.String({ pattern: TIMESTAMP_PATTERN, description });
const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Digest = (description: string) => Type.String({ pattern: SHA256_PATTERN, description });

const HOPS = [
  ...(["measured", "received", "stored", "refused", "changed", "offered", "handed", "opened", "read"] as const),
];

/** One step of the way of a study, as GET /api/v1/lab/diagnostics/{fp}/trail returns it. */
const TrailStep = Type.Object(
  {
    hop: Type.Enum([...HOPS], {
      description:
        "`measured` by the device; `received`: the agent had the bytes on its disk and acknowledged them; " +
        "`stored` here as a revision; `refused`: another body under a known revision; `changed` by a person's command; " +
        "`offered` to a webhook; `handed` to practice software or a folder; `opened`: the owner's report; `read` by a key or a user.",
    }),
    at: Instant("Time of the step by the clock of `clock`."),
    clock: Type.Enum(["device", "agent", "server"], { description: "Whose clock the time is from." }),
    revision: Type.Optional(Count("Revision of the study.")),
    by: Type.Optional(
      Type.String({ description: "Who did it: a device's id, a user, the name of a key, the host of a webhook." }),
    ),
    cause: Type.Optional(
      Type.String({ description: "Why the revision came: `pushed`, `assigned`, `moved`, `merged` and others." }),
    ),
    rule: Type.Optional(
      Type.String({ description: "How the agent found the animal: fp, identifier, accession or name." }),
    ),
    patient_fp: Type.Optional(
      Nullable(
        Type.String({
          pattern: fpPattern("patient"),
          description: "The animal of the revision; null while it waits for one, and for an animal of other clinics.",
        }),
      ),
    ),
    message_id: Type.Optional(
      Type.String({
        description: "The agent's id of the message of the device; of a message that was `handed`, its MSH-10.",
      }),
    ),
    bytes: Type.Optional(Count("Bytes of the message.")),
    sha256: Type.Optional(
      Digest(
        "`received`: of the exact bytes of the message. `stored`: of the revision's study as JSON without blanks.",
      ),
    ),
    attempt: Type.Optional(Count("Number of the attempt, from 1.")),
    event: Type.Optional(Type.String({ description: "The event of a webhook, or the command of a person." })),
    status: Type.Optional(
      Nullable(Type.Integer({ description: "HTTP status of the receiver; null without an answer." })),
    ),
    ended_at: Type.Optional(Nullable(Instant("End of the attempt; null if nothing shows it."))),
    outcome: Type.Optional(
      Type.Enum(["acknowledged", "refused", "failed"], {
        description: "`acknowledged` by the receiver, or written to the disk of the folder.",
      }),
    ),
    times: Type.Optional(Count("How often it was read or opened.")),
    last_at: Type.Optional(Instant("Time of the last of them.")),
    reason: Type.Optional(Type.String({ description: "A code, or the words of the receiver's fault." })),
  },
  { title: "TrailStep", description: "One step of the way of a study.", additionalProperties: false },
);
export type TrailStep = Static<typeof TrailStep>;

export const Trail = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("cds"), description: "Fingerprint of the study." }),
    revision: Count("Revision that the clinic reads now."),
    steps: Type.Array(TrailStep, { description: "The earliest first." }),
    gaps: Type.Array(
      Type.Object(
        {
          code: Type.Enum(["NO_RECEIPT", "REVISION_MISSING", "CLOCKS_DISAGREE", "NO_END"], {
            description:
              "`NO_RECEIPT`: the agent did not tell of the bytes. `REVISION_MISSING`: the revision is not stored. " +
              "`CLOCKS_DISAGREE`: the agent's clock was ahead. `NO_END`: nothing shows how the attempt ended.",
          }),
          revision: Type.Optional(Count("Revision of the study.")),
          attempt: Type.Optional(Count("Number of the attempt.")),
        },
        { title: "TrailGap", description: "A part of the way that nothing shows.", additionalProperties: false },
      ),
      { description: "Parts of the way that nothing shows." },
    ),
  },
  { title: "Trail", description: "The way of a study from its device to its readers.", additionalProperties: false },
);
export type Trail = Static<typeof Trail>;
