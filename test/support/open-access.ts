import { afterAll } from 'vitest';
import { type Access, type AccessOptions, createAccess } from '../../src/access/access.ts';
import { openSqliteAccess } from '../../src/store/sqlite/access/open.ts';
import { newDirectory } from './store-directory.ts';

const opened: Access[] = [];
// Before their directories are taken away, which they would notice.
afterAll(() => {
  for (const access of opened) access.close();
});

/** Who may come in to an app that is built without a server: anybody, unless the options say otherwise. */
export function openAccess(options: Partial<AccessOptions> = {}): Access {
  const access = createAccess({
    mode: 'none',
    store: options.store ?? openSqliteAccess(newDirectory(), 'server'),
    verifyJwt: null,
    onTrouble(error) {
      throw error;
    },
    ...options,
  });
  opened.push(access);
  return access;
}
