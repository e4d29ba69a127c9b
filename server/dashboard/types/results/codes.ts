// Codes of devices that the catalogue does not know, and the clinic's mappings, as the server sends them to the page.

/** A code of a device. All texts are the device's own. */
export interface DeviceCode {
  device_id: string;
  code: string;
  label: string | null;
  unit: string | null;
  /** The last printed value. */
  value: string | null;
  studies: number;
  first_seen_at: string;
  last_seen_at: string;
}

export interface MappedCode {
  device_id: string;
  code: string;
  analyte: string;
  mapped_at: string;
  by: string;
  /** Present while results still come under the device's code. */
  seen: DeviceCode | null;
}

/** The response to `GET codes`. */
export interface CodeList {
  unknown: DeviceCode[];
  mapped: MappedCode[];
}

/** An analyte that a code may mean. */
export interface AnalyteChoice {
  code: string;
  name: string;
  specimen: string;
  unit: string | null;
  /** Whether the unit and the kind of the code's last value are the analyte's. */
  fits: boolean;
}

/** The body of `PUT codes`. A null analyte removes the mapping. */
export interface MapCodeBody {
  device_id: string;
  code: string;
  analyte: string | null;
}
