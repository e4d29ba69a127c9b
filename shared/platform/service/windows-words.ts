// Writes and reads command lines of Windows, by the rules of CommandLineToArgvW.

/** Joins words to a command line that a program of Windows splits into the same words. */
export function windowsLine(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  if (word !== "" && !/[\s"]/.test(word)) return word;
  // Backslashes before a quote are doubled: `C:\Data\` in quotes would take the closing quote as part of the path.
  return `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
}

/** Splits a command line into its words. */
export function windowsWords(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let isQuoted = false;
  for (const [part] of line.matchAll(/\\*"|\\+|\s+|[^\s"\\]+/g)) {
    if (part.endsWith('"')) {
      const slashes = part.length - 1;
      word = (word ?? "") + "\\".repeat(slashes / 2);
      if (slashes % 2 === 1) word += '"';
      else isQuoted = !isQuoted;
    } else if (isQuoted || part.trim() !== "") word = (word ?? "") + part;
    else {
      if (word !== null) words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}
