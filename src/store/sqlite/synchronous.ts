/** The same reads, where what they promise is there when they return. */
export type Synchronous<Reads> = {
  [Name in keyof Reads]: Reads[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never;
};
