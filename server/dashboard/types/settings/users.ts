import type { Role } from "./session.ts";

// The users of a clinic, as its admins see them.

/** The response to `GET .../users`, by name. */
export interface UserList {
  users: UserOfClinic[];
}

export interface UserOfClinic {
  id: string;
  name: string;
  role: Role;
  is_disabled: boolean;
  has_second_factor: boolean;
  /** Whether ten wrong codes followed the right password: somebody else knows it. */
  is_password_known: boolean;
  /** Number of sessions that have not ended, and the last use of one. */
  sessions: number;
  last_used_at: string | null;
  is_you: boolean;
  /** Whether you may reset the password, end the sessions and disable the user: you are an admin of all its clinics. */
  is_manageable: boolean;
  /** Whether nobody else is an admin of this clinic. */
  is_last_admin: boolean;
}

/** The body of `POST .../users`. Without a password the server makes one. */
export interface NewUserBody {
  name: string;
  role: Role;
  password?: string;
}

/** The body of `POST .../users/add`: a user of another clinic gets a role here. */
export interface AddUserBody {
  name: string;
  role: Role;
}

/** The body of `PATCH .../users/:user`. */
export interface RoleBody {
  role: Role;
}

/** The response to a new user and to a reset. */
export interface GivenPassword {
  name: string;
  /** The password that the server made; it is shown once. Null if the admin typed it. */
  password: string | null;
}
