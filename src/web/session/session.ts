import type { AccessMode, Scope } from '../../model/access.ts';

/** Who asks, as the server tells it. @see docs/protocol.md §11 */
export interface Session {
  owner: string;
  scopes: readonly Scope[];
  /** `none`: nobody has to sign in. */
  authentication: AccessMode;
}

/** How the page stands to the server. */
export type Standing =
  /** It is being found out who asks; why that has not worked so far. */
  | { status: 'looking'; failure: string | null }
  /** Nobody is signed in; whether somebody was, in this page, and did not sign out here. */
  | { status: 'out'; hasEnded: boolean }
  | { status: 'in'; session: Session };
