/** The names of the gaps of a text: `count` of `{count}` and of `{count|patient|patients}`. */
export type Gaps<T extends string> = T extends `${string}{${infer Gap}}${infer Rest}`
  ? NameOf<Gap> | Gaps<Rest>
  : never;

type NameOf<Gap extends string> = Gap extends `${infer Name}|${string}` ? Name : Gap;

/**
 * Fills the gaps of a text. `{count}` becomes the value, `{count|one|many}` the first word for 1 and the second one for another
 * number. A gap without a value stays.
 */
export function filled(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g, (gap, name: string, one?: string, many?: string) => {
    const value = values[name];
    if (value === undefined) return gap;
    if (one === undefined || many === undefined) return String(value);
    return Number(value) === 1 ? one : many;
  });
}
