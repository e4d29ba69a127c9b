// The settings in which installations of practice software differ.

/** A field of PID. */
export type PidField = "PID-2" | "PID-3" | "PID-4";

export interface PracticeSettings {
  /**
   * PID-5 of `Örnek^Pamuk`: the owner's last name and the animal's (HL7 v2 §3.6.5), or the other way round. A single component is the
   * animal's name.
   */
  readonly nameOrder: "owner-first" | "animal-first";
  /** The authority (CX-4) of the software's own ids. Absent: by type and sender. */
  readonly idAuthority?: string;
  /** Where the microchip is. Absent: known by its authority, or by its 15 digits. */
  readonly chipField?: PidField;
  /** Where the tattoo is. Absent: known by its authority. */
  readonly tattooField?: PidField;
  /** Names the software at the server. Absent: MSH-3. */
  readonly source?: string;
  /** Reply to ORM^O01. OpenVPMS takes ACK alone. */
  readonly orderReply: "ACK" | "ORR";
  /** The tests of codes in OBR-4. */
  readonly panels?: Readonly<Record<string, readonly string[]>>;
}
