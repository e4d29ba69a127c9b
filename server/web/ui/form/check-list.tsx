import "./check-list.css";

/** Checkboxes, each with its description. */
export function CheckList<Value extends string>({
  legend,
  values,
  chosen,
  choose,
}: {
  legend: string;
  values: readonly { value: Value; name: string; words: string }[];
  chosen: readonly Value[];
  choose: (values: readonly Value[]) => void;
}) {
  return (
    <fieldset class="check-list">
      <legend>{legend}</legend>
      {values.map(({ value, name, words }) => {
        const id = `check-${value}`;
        return (
          <div key={value}>
            <input
              id={id}
              type="checkbox"
              checked={chosen.includes(value)}
              aria-describedby={`${id}-words`}
              onChange={({ currentTarget }) => {
                const others = chosen.filter((one) => one !== value);
                choose(currentTarget.checked ? [...others, value] : others);
              }}
            />
            <label for={id}>{name}</label>
            <span id={`${id}-words`} class="quiet">
              {words}
            </span>
          </div>
        );
      })}
    </fieldset>
  );
}
