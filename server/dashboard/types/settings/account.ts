// The user's own account: password, sessions, second factor.

/** The response to `GET /clinic/v1/account`. */
export interface AccountState {
  name: string;
  /** False for a user who signs in through a provider alone: the password and the second factor are there. */
  has_password: boolean;
  has_second_factor: boolean;
  recovery_codes_left: number;
  sessions: SessionOfUser[];
}

/** A session of the signed-in user, the last used first. */
export interface SessionOfUser {
  id: string;
  /** Whether it is the session of this request. */
  is_this: boolean;
  /** The User-Agent header of the sign-in, as the browser sent it. */
  browser: string | null;
  address: string | null;
  started_at: string;
  /** Accurate to a minute. */
  last_used_at: string;
}

/** The body of `POST /clinic/v1/account/password`. */
export interface PasswordBody {
  old_password: string;
  new_password: string;
}

/** The response to `POST /clinic/v1/account/second-factor/secret`: a secret that is not in use yet. */
export interface NewSecondFactor {
  /** Base32, for typing. */
  secret: string;
  /** The otpauth address, for a QR code. */
  uri: string;
}

/** The body of `POST /clinic/v1/account/second-factor/on`. */
export interface SecondFactorBody {
  secret: string;
  /** A code made from the secret. */
  code: string;
  password: string;
}

/** The body of `POST /clinic/v1/account/second-factor/off` and `.../recovery-codes`. */
export interface ProvenBody {
  password: string;
  /** A code of the app, or a recovery code. */
  code: string;
}

/** The response to `POST /clinic/v1/account/second-factor/on` and `.../recovery-codes`. They are shown once. */
export interface RecoveryCodes {
  recovery_codes: string[];
}
