import type { DevicesProblem, WantedProfile } from "../../shared/api/configuration.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { OwnProfiles } from "../devices/own/own-profiles.ts";
import { hashOf } from "../devices/own/stored-file.ts";
import { readProfileText } from "../devices/table/load.ts";

// The clinic's own profiles that the server hands out with its devices. They are stored before a device is pinned to one.

/** Stores the profiles. @returns their problems, each at the line of `document` that names the profile */
export function storeProfiles(data: string, profiles: readonly WantedProfile[], document: string): DevicesProblem[] {
  const own = new OwnProfiles(data);
  const lines = document.split("\n");
  return profiles.flatMap((wanted) => {
    const line = lines.findIndex((each) => each.includes(wanted.profile)) + 1;
    return problemsOf(wanted, own).map((message) => ({ line, message }));
  });
}

function problemsOf({ profile, sha256, text }: WantedProfile, own: OwnProfiles): string[] {
  if (hashOf(text) !== sha256) return [`${profile} is not what the server stored: its SHA-256 differs`];
  const read = readProfileText(text, profile);
  if ("problems" in read) return read.problems.map(({ message }) => message);
  const { profile: name, revision } = read.form;
  if (`${name}@${revision}` !== profile) return [`${profile} calls itself ${name}@${revision}`];
  try {
    own.put(read.form);
    return [];
  } catch (error) {
    return [errorMessage(error)];
  }
}
