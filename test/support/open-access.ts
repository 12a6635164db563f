import { type Access, type AccessOptions, createAccess } from '../../src/access/access.ts';
import { openSqliteAccess } from '../../src/store/sqlite/access/open.ts';
import { newDirectory } from './store-directory.ts';

/** Who may come in to an app that is built without a server: anybody, unless the options say otherwise. */
export function openAccess(options: Partial<AccessOptions> = {}): Access {
  return createAccess({
    mode: 'none',
    store: openSqliteAccess(newDirectory(), 'server'),
    verifyJwt: null,
    onTrouble(error) {
      throw error;
    },
    ...options,
  });
}
