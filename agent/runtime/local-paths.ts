// Paths of this machine in sentences that leave it. A path often holds the name of a person.

/** Finds paths of files, but neither ports of devices, such as /dev/ttyUSB0, nor paths of URLs. */
export const LOCAL_PATHS = /(?<![\w/:.])(?!\/dev\/)(?:[A-Za-z]:|\.{1,2})?[\\/][^\s,;:'"]+[^\s,;:'".]/g;

/** Leaves the names of files in a sentence. The paths below `folders` may have blanks, and any other one ends at a blank. */
export function withoutFolders(sentence: string, folders: readonly string[]): string {
  const below = folders.reduce(
    (text, folder) => text.replaceAll(`${folder}/`, "").replaceAll(`${folder}\\`, "").replaceAll(folder, "<folder>"),
    sentence,
  );
  return below.replaceAll(LOCAL_PATHS, (path) => path.replace(/^.*[\\/]/, ""));
}
