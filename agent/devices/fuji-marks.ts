// Marks beside a value of Fujifilm's DRI-CHEM analyzers: eleven places, each with its own meaning.

/** Words of the marks by place, from 1. Place 1 is `H` or `L`, the printed interval's; 6, 8 and 11 are blank. */
const MARKS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  2: { "@": "outside the measuring range" },
  3: { "#": "the slide is expired" },
  4: { $: "a thermistor error", "+": "the incubator is too hot", "-": "the incubator is too cold" },
  5: { "*": "a photometer error", "?": "a photometer error" },
  7: { "&": "abnormally high" },
  9: { E: "a calculation or electrolyte error" },
  10: { "\\": "no sample on the slide" },
};

/** Returns the device's doubts in words; null if only the interval is marked, or nothing. */
export function doubtOf(marks: string): string | null {
  const words = [...marks].flatMap((mark, index) => {
    if (mark === " " || index === 0) return [];
    return MARKS[index + 1]?.[mark] ?? `mark ${mark} at place ${index + 1}`;
  });
  return words.length === 0 ? null : words.join(", ");
}
