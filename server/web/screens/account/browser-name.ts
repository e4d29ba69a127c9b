// Names of browsers and systems in a User-Agent header. More specific names come first: Edge and Opera, for example, also
// contain "Chrome" and "Safari".

const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(Chrome|Chromium|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\bWindows\b/, "Windows"],
  [/\b(iPhone|iPod)\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bMac OS X\b/, "Mac"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

const LENGTH_MAX = 60;

/** Returns a name such as `Firefox, Windows`; the shortened header if no browser is recognized. */
export function browserName(header: string): string {
  const [browser, system] = [browsers, systems].map((names) => names.find(([pattern]) => pattern.test(header))?.[1]);
  if (browser === undefined) return header.slice(0, LENGTH_MAX);
  return system === undefined ? browser : `${browser}, ${system}`;
}
