import { EVERYDAY_SCOPES, SCOPES, type Scope } from '../../src/model/access.ts';
import { newDirectory } from '../support/store-directory.ts';
import { makeToken, revokeTokenOf } from '../support/token.ts';
import { openSite, type Site } from './site.ts';

/** A site whose server asks who people are. Its `api` is Ada's, with every scope. */
export interface GuardedSite extends Site {
  newToken(owner: string, scopes?: readonly Scope[]): Promise<{ id: string; token: string }>;
  revoke(tokenId: string): Promise<void>;
}

export async function openGuardedSite(flags: string[] = []): Promise<GuardedSite> {
  const dataDir = newDirectory();
  const { token } = await makeToken(dataDir, 'ada', SCOPES);
  const site = await openSite({ dataDir, token, flags: ['--auth', 'token', ...flags] });
  return Object.defineProperties(
    {
      newToken: (owner: string, scopes: readonly Scope[] = EVERYDAY_SCOPES) => makeToken(dataDir, owner, scopes),
      revoke: (tokenId: string) => revokeTokenOf(dataDir, tokenId),
    },
    Object.getOwnPropertyDescriptors(site),
  ) as GuardedSite;
}
