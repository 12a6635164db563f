/** What a credential may do. `admin`: what is the operator's; `impersonate`: act for any owner. @see docs/security.md */
export const SCOPES = ['tasks:read', 'tasks:write', 'questions:answer', 'admin', 'impersonate'] as const;
export type Scope = (typeof SCOPES)[number];

/** How people show who they are. `none`: they need not, and everything is of one owner. `jwt` takes tokens, too. */
export const ACCESS_MODES = ['none', 'token', 'jwt'] as const;
export type AccessMode = (typeof ACCESS_MODES)[number];

/** What people get who are given nothing else. */
export const EVERYDAY_SCOPES: readonly Scope[] = ['tasks:read', 'tasks:write', 'questions:answer'];

/** The owner of everything where nobody has to say who they are. */
export const LOCAL_OWNER = 'local';

const OWNER = /^[\x21-\x7e]{1,255}$/;

/** What a ticket is for; both null: everything of its owner. */
export interface TicketSubject {
  taskId: string | null;
  conversationId: string | null;
}

/** How somebody has shown who they are. */
export type Credential =
  | { kind: 'none' }
  | { kind: 'token'; id: string }
  /** It ends by itself, and there is no calling it back. */
  | { kind: 'jwt' }
  /** A ticket or a session, by the hash that it is kept under, and the token that it goes back to, if any. */
  | { kind: 'grant'; hash: string; tokenId: string | null };

/** Who asks, and what they may do. */
export interface Principal {
  /** Whose data it is about. */
  owner: string;
  scopes: readonly Scope[];
  credential: Credential;
  /** Epoch ms; null while nothing but a revocation ends it. */
  expiresAt: number | null;
}

/** Whether this can name an owner: 1 to 255 visible ASCII characters, so that it passes as a header. */
export function isOwnerName(text: string): boolean {
  return OWNER.test(text);
}

/** The scopes of a text, separated by spaces. One that this version does not know opens nothing. */
export function scopesIn(text: string): Scope[] {
  return text.split(' ').filter(isScope);
}

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}
