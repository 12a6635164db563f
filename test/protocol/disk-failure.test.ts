import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { readUntilGone, resume } from '../support/reader-crowd.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';
import { expectStored, wholeLog } from '../support/stored-check.ts';
import { heardIn } from './flood-agents.ts';

const EVERYTHING = '/v1/events';
