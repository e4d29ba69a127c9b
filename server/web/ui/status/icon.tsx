import "./icon.css";

/** Icons of 16 by 16 units. Each is shown with a word of the same meaning. */
const paths = {
  down: "M4 6l4 4 4-4",
  check: "M3 8.5l3.5 3.5L13 4.5",
  circle: "M8 14.5A6.5 6.5 0 1 0 8 1.5a6.5 6.5 0 0 0 0 13z",
  find: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3.5 3.5",
  add: "M8 3v10M3 8h10",
  move: "M3 5.5h10L10.5 3M13 10.5H3L5.5 13",
  device: "M2.5 2.5h11v8h-11zM5.5 13.5h5M8 10.5v3",
  tube: "M5.5 1.5h5M6 1.5v11a2 2 0 0 0 4 0v-11M6 8h4",
  plus: "M8 14.5A6.5 6.5 0 1 0 8 1.5a6.5 6.5 0 0 0 0 13zM8 5v6M5 8h6",
  key: "M6 10a3.5 3.5 0 1 1 3-1.7L14.5 14M12 11.5l1.5-1.5",
  file: "M4 1.5h5.5L13 5v9.5H4zM9.5 1.5V5H13",
  person: "M8 7.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5zM2.5 14a5.5 5.5 0 0 1 11 0",
  menu: "M2 4h12M2 8h12M2 12h12",
  choices: "M2 5h7M13 5h1M2 11h1M7 11h7M11 5a1.5 1.5 0 1 0 0 .1zM5 11a1.5 1.5 0 1 0 0 .1z",
  bad: "M8 1.8L15 14H1zM8 6.2v3.6M8 12v.1",
  wait: "M8 14.5A6.5 6.5 0 1 0 8 1.5a6.5 6.5 0 0 0 0 13zM8 4.5V8l2.5 1.5",
  good: "M8 14.5A6.5 6.5 0 1 0 8 1.5a6.5 6.5 0 0 0 0 13zM5 8.2l2.2 2.2L11 6",
};

export type IconName = keyof typeof paths;

export function Icon({ of: name }: { of: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
