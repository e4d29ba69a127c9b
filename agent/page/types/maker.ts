import { type Static, Type } from "typebox";
import { Modality } from "../../../shared/api/study.ts";
import { type Role, ROLES } from "./maker-roles.ts";

// The maker of profiles: `/local/v1/maker` of the agent's page. A draft is a base and patches; the page keeps it and sends it along.

/** A part of a message with the range of its bytes; `to` is exclusive. Parts without text are left out of the JSON. */
export interface MakerNode {
  /**
   * `OBX`, `OBX-3`, `OBX-3.1`; in a file a column, a named group or a path of XML. A component of a repeat after the first has none: no
   * profile names it.
   */
  readonly place: string;
  readonly kind: "message" | "record" | "field" | "repeat" | "component" | "element" | "column";
  /** Its name where the place is not. */
  readonly label?: string;
  /** The formats in which its text can be a time; several where day and month may be either. */
  readonly formats?: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly children: readonly MakerNode[];
}

/** A role with the range of the bytes that it has in a message. */
export interface RoleNode {
  readonly role: string;
  readonly place: string;
  /** Index of the record in the tree. */
  readonly record: number;
  readonly from: number;
  readonly to: number;
}

export interface MakerRow {
  /** Index of its record in the tree; null for a row that needs several records. */
  readonly record: number | null;
  /** Index of the rule in `rows` that its record meets; null without one. */
  readonly rule: number | null;
  /** The code as sent; "" where a row needs several records. */
  readonly code: string;
  /** Null for a record without a result. */
  readonly result: MakerResult | null;
  /** The reason, if there is no result. */
  readonly reason: string | null;
  readonly nodes: readonly RoleNode[];
  /** The three analytes that a code outside the catalogue may be. */
  readonly suggestions?: readonly { readonly code: string; readonly name: AnalyteName }[];
}

/** The catalogue's name in the languages of the page. */
export interface AnalyteName {
  readonly en: string;
  readonly tr: string;
}

export interface MakerResult {
  readonly code: string;
  readonly label: string | null;
  /** The catalogue's name; null for a code outside the catalogue. */
  readonly analyte: AnalyteName | null;
  readonly text: string;
  readonly unit: string | null;
  readonly range: string | null;
  readonly flag: string | null;
  readonly comment: string | null;
}

export interface MakerSample {
  readonly identifier: string | null;
  readonly name: string | null;
  readonly owner: string | null;
  readonly species: string | null;
  readonly sex: string | null;
  readonly born: string | null;
  readonly sample: readonly string[];
  readonly time: string;
  readonly device: string;
  readonly modality: string;
}

export interface MessageView {
  /** Null for a message without results. */
  readonly sample: MakerSample | null;
  readonly reason: string | null;
  readonly rows: readonly MakerRow[];
  /** Roles of the sample and the patient. */
  readonly nodes: readonly RoleNode[];
  /** Texts of the patient and the order that nothing reads. */
  readonly unread: readonly { readonly field: string; readonly text: string }[];
  readonly notes: readonly string[];
}

export interface Proposal {
  readonly role: Role;
  /** A place, or for a kind of row the record alone. */
  readonly place: string;
  /** Indexes of the message and of its record that show it. */
  readonly message: number;
  readonly record: number;
  readonly patch: Readonly<Record<string, unknown>>;
  /** 0 to 1. From 0.4 it is offered. */
  readonly score: number;
  /** From 0.7 it is chosen before the person looks, unless it names an animal after a single message. */
  readonly isChosen: boolean;
  readonly reasons: readonly ProposalReason[];
  readonly against: readonly ProposalReason[];
}

export interface ProposalReason {
  readonly code:
    | "speciesWords"
    | "ofDirectory"
    | "unreadText"
    | "isTime"
    | "differs"
    | "constant"
    | "knownCodes"
    | "knownUnits"
    | "ranges"
    | "everyRow"
    | "noNumber"
    | "oneMessage"
    | "counter";
  readonly values: readonly string[];
}

/** The page starts with this: the sources of bytes, and the profiles that a draft may begin with. */
export interface LocalMakerStart {
  readonly devices: readonly MakerDevice[];
  readonly bases: readonly MakerBase[];
  /** References of the clinic's own profiles, the newest revision of each first. */
  readonly own: readonly string[];
  /** Mark of the configuration. */
  readonly mark: string;
}

export interface MakerDevice {
  readonly id: string;
  readonly profile: string;
  /** Bytes that belong to no message. */
  readonly noise: number;
  /** Newest messages, those that were not understood first. */
  readonly messages: readonly { readonly id: string; readonly received_at: string; readonly state: string }[];
}

export interface MakerBase {
  readonly profile: string;
  readonly name: string;
  readonly protocol: string;
}

const closed = { additionalProperties: false };
const text = (maxLength: number) => Type.String({ maxLength });
const BYTES_TEXT = text(900_000);

/** The bytes of a draft: what a device sent that no message has, a stored message, a paste or a file. */
export const MakerSource = Type.Union([
  Type.Object({ device: text(100) }, closed),
  Type.Object({ messages: Type.Array(text(100), { minItems: 1, maxItems: 5 }) }, closed),
  Type.Object({ text: BYTES_TEXT }, closed),
  Type.Object({ hex: BYTES_TEXT }, closed),
  Type.Object({ base64: BYTES_TEXT }, closed),
]);
export type MakerSource = Static<typeof MakerSource>;

export interface LocalMakerOpened {
  /** `astm` and `hl7` have their trees here, `file` with a look. Null for other protocols, and if nothing was recognised. */
  readonly protocol: string | null;
  /** The kind of a file, such as `csv`, and the patch with which a profile without a base begins. Null if it is not a file. */
  readonly file: { readonly kind: string; readonly begin: Readonly<Record<string, unknown>> } | null;
  readonly found: { readonly name: string; readonly reasons: readonly string[] } | null;
  /** The profiles to begin with, the best first. */
  readonly bases: readonly string[];
  readonly messages: readonly { readonly base64: string; readonly tree: MakerNode | null }[];
}

const Draft = {
  base: text(100),
  patches: Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 500 }),
};

const MakerClick = Type.Union([
  Type.Object(
    {
      ...{ role: Type.Enum([...ROLES]), place: text(100), format: Type.Optional(text(40)) },
      ...{ message: Type.Integer({ minimum: 0, maximum: 4 }), record: Type.Integer({ minimum: 0 }) },
      ...{ text: Type.Optional(text(500)), species: Type.Optional(text(40)), words: Type.Optional(text(200)) },
    },
    closed,
  ),
  /** The code of a row means an analyte. `code`: of a row of a file. */
  Type.Object(
    {
      ...{ analyte: text(40), code: Type.Optional(text(200)) },
      ...{ message: Type.Integer({ minimum: 0, maximum: 4 }), record: Type.Integer({ minimum: 0 }) },
    },
    closed,
  ),
  Type.Object(
    { device: Type.Object({ name: text(200), modality: Type.Union([Modality, Type.Null()]) }, closed) },
    closed,
  ),
]);
export type MakerClick = Static<typeof MakerClick>;

/** A look at a draft, after clicks. */
export const MakerLook = Type.Object(
  {
    ...Draft,
    messages: Type.Array(BYTES_TEXT, { maxItems: 5 }),
    clicks: Type.Array(MakerClick, { maxItems: 50 }),
  },
  closed,
);
export type MakerLook = Static<typeof MakerLook>;

export interface LocalMakerLook {
  readonly patches: MakerLook["patches"];
  /** Clicks that the draft cannot take. */
  readonly refused: number;
  /** The profile as it would be stored. */
  readonly text: string;
  readonly problems: readonly string[];
  readonly device: { readonly name: string | null; readonly modality: string | null };
  readonly views: readonly MessageView[];
  readonly proposals: readonly Proposal[];
  /** Trees that depend on the draft, of files and texts; null where the messages came with theirs. */
  readonly trees: readonly (MakerNode | null)[] | null;
  /** The facts that a profile of files has to state before it reads anything. */
  readonly open: readonly OpenPoint[];
  /** The base is code: its places are fixed. */
  readonly isFixed: boolean;
}

export type OpenPoint = "header" | "records" | "lines" | "sample" | "time" | "code" | "value";

export const MakerCheck = Type.Object({ ...Draft, device: text(100) }, closed);
export type MakerCheck = Static<typeof MakerCheck>;

/** The changes that a draft makes in the stored messages of a device. */
export interface LocalMakerCheck {
  readonly messages: number;
  readonly same: number;
  readonly changes: readonly MakerChange[];
  /** Texts of patients and orders that nothing reads. */
  readonly unread: number;
}

export interface MakerChange {
  readonly kind: ChangeKind;
  readonly count: number;
  /** Ids of the first of them. */
  readonly messages: readonly string[];
}

export const CHANGE_KINDS = [
  "read",
  "unreadable",
  "rowsMore",
  "rowsFewer",
  "values",
  "identifier",
  "name",
  "species",
  "speciesLost",
  "time",
  "other",
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

export const MakerSave = Type.Object(
  {
    ...Draft,
    /** `acme-x1`; null uses the base itself, which no click changed. */
    name: Type.Union([Type.String({ pattern: "^[a-z0-9][a-z0-9-]{0,62}$" }), Type.Null()]),
    /** The newest revision of this name when the draft began; null without one. */
    seen: Type.Union([text(100), Type.Null()]),
    /** The device that uses the profile from now on; null for none. */
    device: Type.Union([text(100), Type.Null()]),
    mark: text(100),
  },
  closed,
);
export type MakerSave = Static<typeof MakerSave>;

export type LocalMakerSaved =
  | { readonly outcome: "saved"; readonly reference: string; readonly device: string | null; readonly mark: string }
  /** Somebody stored a newer revision meanwhile: how it differs from the draft. */
  | { readonly outcome: "changed"; readonly reference: string; readonly diff: readonly string[] }
  | { readonly outcome: "refused"; readonly reference: string | null; readonly problems: readonly string[] };
