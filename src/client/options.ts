/** What a client may be given. */
export interface ClientOptions {
  /** Of the server, with any prefix that a proxy adds; `''` is the page's own origin. */
  url: string;
  /** Sent as `Authorization: Bearer`. A function is asked again when a token is refused. */
  token?: string | (() => string | Promise<string>);
  /** Gives a short-lived ticket for `?ticket=` of event streams, for who may not hold a token; asked again when one has run out. */
  ticket?: () => string | Promise<string>;
  /**
   * Whose events these are: tabs of one browser share a connection when url and account are equal. Needed only where
   * `token` is a function or there is a `ticket`; without it such clients keep a connection for each tab.
   */
  account?: string;
  /** False gives this client a connection of its own for each `events()`, filtered by the server. Default: true in a browser's tab. */
  share?: boolean;
  /** Default: the global one. */
  fetch?: typeof fetch;
}
