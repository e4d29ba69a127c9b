// The head of a clinic's reports for owners: the settings' part "Report".

/** The response to `GET .../settings/report`. */
export interface ReportHeadState {
  address: string;
  phone: string;
  has_logo: boolean;
}

/** The body of `PUT .../settings/report`. An absent field stays as it is. */
export interface ReportHeadBody {
  address?: string;
  phone?: string;
  /** A PNG or JPEG in base64; null removes the logo. */
  logo?: string | null;
}

export const ADDRESS_CHARS_MAX = 160;
export const PHONE_CHARS_MAX = 60;
