import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadAgents } from '../../src/worker/load-agents.ts';

const DEFINE = new URL('../../src/worker/define-agent.ts', import.meta.url).href;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-agents-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function module(name: string, code: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `import { defineAgent } from ${JSON.stringify(DEFINE)};\nconst run = () => {};\n${code}`);
  return pathToFileURL(path).href;
}

describe('loading agents', () => {
  test('finds them by default and by name, alone and in arrays, each once', async () => {
    const modules = [
      await module(
        'one.mjs',
        `export const a = defineAgent({ name: 'a', run }); export default a; export const help = run;`,
      ),
      await module('two.mjs', `export default [defineAgent({ name: 'b', run }), defineAgent({ name: 'c', run })];`),
    ];

    expect([...(await loadAgents(modules)).keys()]).toEqual(['a', 'b', 'c']);
  });

  test('refuses a name that is taken, also by another module', async () => {
    const one = await module('first.mjs', `export default defineAgent({ name: 'same', run });`);
    const two = await module('second.mjs', `export default defineAgent({ name: 'same', run });`);

    await expect(loadAgents([one, two])).rejects.toThrow(`${two}: there is already an agent named "same".`);
  });

  test('refuses a module without agents', async () => {
    const url = await module('none.mjs', `export default { name: 'a', run };`);

    await expect(loadAgents([url])).rejects.toThrow(`${url} exports no agent. Wrap each agent in defineAgent()`);
  });

  test('says which module cannot be loaded, and why', async () => {
    const url = await module('broken.mjs', `throw new Error('no key');`);

    await expect(loadAgents([url])).rejects.toThrow(`Cannot load the agents of ${url}: no key`);
  });
});
