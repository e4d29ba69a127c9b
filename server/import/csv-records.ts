/** A record of a CSV file, with the number of the line on which it begins. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

/** Reads CSV (RFC 4180). The separator is the comma, semicolon or tab that the first line has most of. Blank records are left out. */
export function readCsv(text: string): CsvRecord[] {
  const separator = separatorOf(text);
  const records: CsvRecord[] = [];
  let cells: string[] = [];
  let [cell, isQuoted, line, firstLine] = ["", false, 1, 1];
  const endRecord = () => {
    cells.push(cell);
    if (cells.some((one) => one.trim() !== "")) records.push({ line: firstLine, cells });
    cells = [];
    cell = "";
  };
  for (const [token] of text.matchAll(/""|"|\r?\n|[^"\r\n,;\t]+|[^]/g)) {
    const isLineEnd = token.endsWith("\n");
    if (isLineEnd) line += 1;
    if (token === '"') isQuoted = !isQuoted;
    else if (token === '""') cell += isQuoted ? '"' : "";
    else if (isQuoted) cell += token;
    else if (isLineEnd) {
      endRecord();
      firstLine = line;
    } else if (token === separator) {
      cells.push(cell);
      cell = "";
    } else cell += token;
  }
  endRecord();
  return records;
}

function separatorOf(text: string): string {
  const [firstLine = ""] = text.trimStart().split(/\r?\n/, 1);
  const count = (separator: string) => firstLine.split(separator).length;
  return [",", ";", "\t"].reduce((best, one) => (count(one) > count(best) ? one : best));
}
