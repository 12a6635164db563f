import { openSqliteAccess } from '../../src/store/sqlite/access/open.ts';
import { newDirectory } from '../support/store-directory.ts';
import { type AccessEngine, testAccessStore } from './access-store.suite.ts';
import { testGrants } from './grants.suite.ts';

const directories = new Map<string, string>();

const sqlite: AccessEngine = {
  name: 'SQLite',
  async open(dir = `${directories.size}`) {
    const directory = directories.get(dir) ?? newDirectory();
    directories.set(dir, directory);
    return openSqliteAccess(directory, 'server');
  },
};

testAccessStore(sqlite);
testGrants(sqlite);
