import type { ProfileBase } from "../profile.ts";
import type { FileRecord, Layout } from "./layouts/records.ts";

interface FolderProfile extends ProfileBase {
  readonly protocol: "file";
  readonly link: {
    readonly kind: "file";
    /** In lower case, without a dot. */
    readonly extensions: readonly string[];
  };
}

/** A folder into which practice software exports lists of animals, owners or stock, which the server reads. */
export interface RegistryFiles extends FolderProfile {
  readonly content: "registry";
  readonly device_name: null;
}

/** Reads a text of a record; "" without one. */
export type RecordText = (record: FileRecord) => string;

/** A folder into which an analyzer, or its program, exports results. */
export interface ResultFiles extends FolderProfile {
  readonly content: "results";
  readonly device_name: string;
  readonly layout: Layout;
  /** The places that a file has to have. A table without one of these columns is refused as a whole. */
  readonly places: readonly string[];
  readonly sample: {
    readonly number: RecordText;
    /** These texts together name the run. Empty without such a number. */
    readonly run: readonly RecordText[];
    readonly time: RecordText;
    /** Returns the time as `YYYYMMDDHHMMSS`, or as `YYYYMMDD` without a clock; null for a text in another format. */
    readonly readTime: (text: string) => string | null;
    /** Reads a date in the order of the times. */
    readonly readDate: (text: string) => string | null;
    /** The format, for a sentence. */
    readonly format: string;
    readonly urine: (record: FileRecord) => boolean;
    readonly comments: readonly RecordText[];
  };
  readonly patient: {
    readonly [Field in "identifier" | "name" | "owner" | "species" | "breed" | "sex" | "born"]?: RecordText;
  };
  readonly results: RowResults | ColumnResults;
  /** The kind of a record that is not a result; null for a result. */
  readonly rowKind: (
    record: FileRecord,
  ) => { readonly as: "remark" | "control" | "no-result"; readonly reason: string } | null;
  /** Catalogue's codes of the device's names. */
  readonly analytes?: Readonly<Record<string, string>>;
  /** Words of the device's doubts by its flags. */
  readonly doubts?: Readonly<Record<string, string>>;
  /** The sign of decimals in the file; `auto`: a comma only where no comma separates the cells. */
  readonly decimal: "auto" | "." | ",";
}

/** Each record is a result. */
interface RowResults {
  readonly per: "row";
  /** Names of the test, the device's own code first. */
  readonly names: (record: FileRecord) => string[];
  readonly value: RecordText;
  readonly unit: RecordText;
  readonly range: RecordText;
  readonly flag: RecordText;
}

/** Each record is a run, and each column from `from` on a test. */
interface ColumnResults {
  readonly per: "column";
  readonly from: string;
  /** Columns after `from` that are not tests. */
  readonly except: readonly string[];
  /** The unnamed column after a test has its unit. */
  readonly unitIsNext: boolean;
}

export type FileProfile = RegistryFiles | ResultFiles;
