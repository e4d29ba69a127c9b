import { type Static, Type } from "typebox";
import { ORDER_TESTS_MAX, TestName } from "../../../shared/api/agent/agent-lists.ts";
import { DESTINATIONS_MAX } from "../../../shared/api/agent/destinations.ts";
import { PIN } from "../../../shared/api/agent/pairing.ts";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import { Modality } from "../../../shared/api/study.ts";
import { type BackupSchedule, TIME_OF_DAY } from "../../../shared/platform/care/schedule.ts";
import { BUCKET_PATTERN, PREFIX_PATTERN } from "../../imaging/archive/s3/object-target.ts";
import type { LogFileOptions } from "../../../shared/log/log-file.ts";
import { CHARSETS as ASTM_CHARSETS } from "../../protocols/astm/records.ts";
import { ACK_MODES } from "../../protocols/hl7/message/acknowledgement.ts";
import { CHARSETS as HL7_CHARSETS } from "../../protocols/hl7/message/charset.ts";
import type { Address } from "../../transport/address.ts";
import type { Destination } from "./destination.ts";
import type { ImageLimits } from "./image-limits.ts";
import { RESULT_DESTINATION, type ResultDestination } from "./result-destination.ts";
import { textForm } from "../../../shared/schema/text-form.ts";

/** The profile of imaging devices. They send files instead of messages. */
export const DICOM = "dicom";

export const SerialSchema = ClosedObject({
  path: Type.String({ minLength: 1 }),
  baudRate: Type.Optional(Type.Integer({ minimum: 300, maximum: 921_600 })),
  dataBits: Type.Optional(Type.Enum([7, 8])),
  parity: Type.Optional(Type.Enum(["none", "even", "odd", "mark", "space"])),
  stopBits: Type.Optional(Type.Enum([1, 2])),
  rtscts: Type.Optional(Type.Boolean()),
});

export const ReplyConnectionSchema = ClosedObject({
  listen: Type.Optional(Type.String()),
  dial: Type.Optional(Type.String()),
});

export const TlsSchema = ClosedObject({
  certificate: Type.Optional(Type.String({ minLength: 1 })),
  key: Type.Optional(Type.String({ minLength: 1 })),
  ca: Type.Optional(Type.String({ minLength: 1 })),
});

/** PS3.5 §6.2: no backslash and no control characters; leading and trailing spaces are not significant. */
const AeTitle = Type.String({
  pattern: textForm(
    "^[!-\\[\\]-~](?:[ -\\[\\]-~]{0,14}[!-\\[\\]-~])?$",
    "1 to 16 printable ASCII characters without a backslash, no blank at either end",
  ),
});

const PidField = Type.Enum(["PID-2", "PID-3", "PID-4"]);

/** The settings of one installation of practice software; see PracticeSettings. */
export const PracticeSchema = ClosedObject({
  nameOrder: Type.Optional(Type.Enum(["owner-first", "animal-first"])),
  idAuthority: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  chipField: Type.Optional(PidField),
  tattooField: Type.Optional(PidField),
  source: Type.Optional(Type.String({ pattern: textForm("^[\\w.-]{1,64}$", "1 to 64 letters, digits, dots, - or _") })),
  orderReply: Type.Optional(Type.Enum(["ACK", "ORR"])),
  /** Tests of the software's codes: `{CHEM10: [ALT, CREA]}`. */
  panels: Type.Optional(Type.Record(Type.String(), Type.Array(TestName, { minItems: 1, maxItems: ORDER_TESTS_MAX }))),
});

/** Max characters of a sample's number, as a report keeps it. */
const CONTROL_NUMBER_MAX = 64;

export const DeviceSchema = ClosedObject({
  id: Type.String({
    pattern: textForm("^[a-z0-9][a-z0-9-]{0,62}$", "lower-case letters, digits and dashes such as chem-1, at most 63"),
  }),
  profile: Type.String(),
  connection: ClosedObject({
    serial: Type.Optional(SerialSchema),
    listen: Type.Optional(Type.String()),
    dial: Type.Optional(Type.String()),
    replyConnection: Type.Optional(ReplyConnectionSchema),
    /** A folder into which a program exports files. */
    folder: Type.Optional(Type.String({ minLength: 1 })),
    /** The files stay in the folder; without it they move to `done` beside them. */
    leave: Type.Optional(Type.Boolean()),
  }),
  tls: Type.Optional(TlsSchema),
  allow: Type.Optional(Type.Array(Type.String())),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  timeZone: Type.Optional(Type.String()),
  charset: Type.Optional(Type.Enum([...new Set([...ASTM_CHARSETS, ...HL7_CHARSETS])])),
  ackMode: Type.Optional(Type.Enum(ACK_MODES)),
  operatorListFile: Type.Optional(Type.String({ minLength: 1 })),
  /** The clinic's analytes of the device's own codes: `{"413": GLU}`. */
  codes: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }))),
  /** Numbers of samples that are control material: `[QC1, QC2]`. */
  controls: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: CONTROL_NUMBER_MAX }), { minItems: 1, maxItems: 100 }),
  ),
  /** A sample number names the patient like a typed identifier. */
  matchBySampleId: Type.Optional(Type.Boolean()),
  /** A clinic's own profile may send orders to the device. Default false: it may be a stranger's. */
  orders: Type.Optional(Type.Boolean()),
  practice: Type.Optional(PracticeSchema),
  // Keys of imaging devices.
  aeTitle: Type.Optional(AeTitle),
  callingAeTitles: Type.Optional(Type.Array(AeTitle, { maxItems: 100 })),
  quietSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  modality: Type.Optional(Modality),
  /** Address at which the device receives the reports of storage commitment. */
  commitmentScp: Type.Optional(Type.String()),
});

/** A bucket of a store with the S3 protocol. */
export const BucketSchema = ClosedObject({
  endpoint: Type.String({ minLength: 1 }),
  bucket: Type.String({ pattern: textForm(BUCKET_PATTERN, "3 to 63 lower-case letters, digits, points and dashes") }),
  region: Type.Optional(
    Type.String({ pattern: textForm("^[A-Za-z0-9-]{1,64}$", "letters, digits and dashes such as eu-central-1") }),
  ),
  prefix: Type.Optional(
    Type.String({
      pattern: textForm(PREFIX_PATTERN, "a path such as images/clinic-1, no slash at either end"),
      maxLength: 500,
    }),
  ),
  accessKeyId: Type.String({
    pattern: textForm("^[!-.0-~]{1,128}$", "printable ASCII characters without blanks and slashes, at most 128"),
  }),
  secretFile: Type.String({ minLength: 1 }),
  encryption: Type.Optional(Type.Enum(["AES256", "aws:kms"])),
  kmsKeyId: Type.Optional(
    Type.String({ pattern: textForm("^[!-~]{1,2048}$", "printable ASCII characters without blanks") }),
  ),
  pathStyle: Type.Optional(Type.Boolean()),
  ca: Type.Optional(Type.String({ minLength: 1 })),
});

/** With `kind` a receiver of results, else a PACS or another archive that gets a copy of each image. */
export const DestinationSchema = ClosedObject({
  id: Type.String({
    pattern: textForm("^[a-z0-9][a-z0-9-]{0,62}$", "lower-case letters, digits and dashes such as chem-1, at most 63"),
  }),
  dial: Type.Optional(Type.String()),
  aeTitle: Type.Optional(AeTitle),
  callingAeTitle: Type.Optional(AeTitle),
  stow: Type.Optional(
    Type.String({ pattern: textForm("^https?://", "an address that begins with http:// or https://") }),
  ),
  authorizationFile: Type.Optional(Type.String({ minLength: 1 })),
  s3: Type.Optional(BucketSchema),
  ...RESULT_DESTINATION,
});

/** Retention of images, and the space that stays free on their disk. */
export const ImagesSchema = ClosedObject({
  retainDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })),
  maxGigabytes: Type.Optional(Type.Number({ minimum: 0.001, maximum: 1_000_000 })),
  minFreeGigabytes: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 })),
});

/** Backups that the agent makes by itself each day. */
export const BackupSchema = ClosedObject({
  folder: Type.String({ minLength: 1 }),
  at: Type.Optional(Type.String({ pattern: textForm(TIME_OF_DAY, "a time of day such as 03:30") })),
  keep: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  images: Type.Optional(Type.Boolean()),
});

/** A log file in addition to stdout. */
export const LogSchema = ClosedObject({
  file: Type.String({ minLength: 1 }),
  maxMegabytes: Type.Optional(Type.Number({ minimum: 0.01, maximum: 10_000 })),
  keep: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
});

/** Keys of devices that send messages. */
export const ANALYZER_KEYS = ["codes", "controls", "matchBySampleId", "orders"];

export const DICOM_KEYS = ["aeTitle", "callingAeTitles", "quietSeconds", "modality", "commitmentScp"];

/** The way of HTTP requests out of the clinic. Read alone before the pairing, while the rest of the file is not there yet. */
export const NetworkSchema = Type.Object({
  /** Proxy of all HTTP requests, such as `http://user@proxy.example:3128`; the environment's without it. */
  proxy: Type.Optional(Type.String({ minLength: 1 })),
  proxyPasswordFile: Type.Optional(Type.String({ minLength: 1 })),
  /** Targets without a proxy, in addition to NO_PROXY. */
  noProxy: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 100 })),
  /** File with certificates in PEM, which HTTP requests trust in addition to the known authorities. */
  ca: Type.Optional(Type.String({ minLength: 1 })),
});

export const ConfigSchema = ClosedObject({
  server: ClosedObject({
    url: Type.String({ pattern: textForm("^https?://", "an address that begins with http:// or https://") }),
    keyFile: Type.String({ minLength: 1 }),
    /** The public key of the server's authority, or of its certificate. Pairing writes it where no public authority is known. */
    pin: Type.Optional(
      Type.String({ pattern: textForm(PIN, "sha256/ and 44 characters of base64, as pairing writes it") }),
    ),
  }),
  ...NetworkSchema.properties,
  data: Type.String({ minLength: 1 }),
  timeZone: Type.String(),
  /** Files a result without an identifier to the only patient of its species and name, if that has an event on the day. */
  matchPatientsByName: Type.Optional(Type.Boolean()),
  status: Type.Optional(ClosedObject({ listen: Type.String() })),
  /** Empty after pairing, before the first device. */
  devices: Type.Array(DeviceSchema, { maxItems: 1000 }),
  destinations: Type.Optional(Type.Array(DestinationSchema, { maxItems: DESTINATIONS_MAX })),
  images: Type.Optional(ImagesSchema),
  backup: Type.Optional(BackupSchema),
  log: Type.Optional(LogSchema),
  /** False keeps the devices of this file: the agent takes none from the server. */
  managed: Type.Optional(Type.Boolean()),
});

export type ConfigFile = Static<typeof ConfigSchema>;

export type DeviceConfig = ConfigFile["devices"][number];

export type TlsFiles = Static<typeof TlsSchema>;

/** The checked configuration, with paths resolved against the folder of the file. */
export interface Config extends Omit<ConfigFile, "status" | "destinations" | "images" | "backup" | "log"> {
  /** The file that the configuration was read from. Absent if it was read from a text. */
  readonly file?: string;
  /** null for no local status server. */
  readonly status: Address | null;
  /** Archives of images. */
  readonly destinations: readonly Destination[];
  readonly resultDestinations: readonly ResultDestination[];
  readonly images: ImageLimits;
  /** null for no backups by the agent itself. */
  readonly backup: (BackupSchedule & { readonly images: boolean }) | null;
  /** null for stdout alone. */
  readonly log: LogFileOptions | null;
  /** A sentence for each part of the file that has no effect any more. */
  readonly ignored: readonly string[];
  /** Own profiles of devices that cannot be used. Each stops its device alone. */
  readonly profileFaults: readonly ProfileFault[];
}

/** The device is the second of the steps. */
export interface ProfileFault {
  readonly line: number;
  readonly steps: readonly string[];
  readonly message: string;
}
