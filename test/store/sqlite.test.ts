import { openSqliteStore, openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import { newDirectory } from '../support/store-directory.ts';
import { testStore } from './store.suite.ts';

testStore({
  name: 'SQLite in process',
  open: async ({ dir = newDirectory(), ...options } = {}) => openSqliteStoreInProcess({ dir, ...options }),
  hasClock: true,
});

testStore({
  name: 'SQLite in memory',
  open: async (options = {}) => openSqliteStoreInProcess({ dir: ':memory:', ...options }),
  hasClock: true,
});

testStore({
  name: 'SQLite with a writer thread',
  open: ({ dir = newDirectory() } = {}) => openSqliteStore({ dir }),
  hasClock: false,
});
