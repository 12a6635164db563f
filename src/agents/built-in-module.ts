/** The module of the agents that every server has, besides those it is given. */
export const BUILT_IN_MODULE: string = new URL(
  import.meta.url.endsWith('.ts') ? './built-in.ts' : './built-in.js',
  import.meta.url,
).href;
