import type { ProfileBase } from "../profile.ts";

/** A folder into which a program exports files. */
export interface FileProfile extends ProfileBase {
  readonly protocol: "file";
  readonly link: {
    readonly kind: "file";
    /** In lower case, without a dot. */
    readonly extensions: readonly string[];
  };
  readonly device_name: null;
  /** The files are lists of animals, owners or stock, which the server reads. */
  readonly content: "registry";
}
