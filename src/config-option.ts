/** One option of `holdfast serve`: a flag, and a variable that stands in for it. */
export interface ConfigOption<T> {
  flag: `--${string}`;
  env: `HOLDFAST_${string}`;
  /** What the value is called in the help. */
  value: string;
  /** The default as people read it. */
  default: string;
  description: string;
  /** May be given several times; in the variable, separated by this. */
  repeatable?: string;
  /**
   * @param texts what was given, none for the default; more than one only for a repeatable option
   * @throws Error with what is wrong with the value, for `ConfigError` to name where it came from
   */
  parse(texts: readonly string[]): T;
}

export function option<T>(definition: ConfigOption<T>): ConfigOption<T> {
  return definition;
}
