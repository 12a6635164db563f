import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { OPTIONS } from '../../src/config.ts';

const root = path.join(import.meta.dirname, '../..');

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function holdfast(...args: string[]): Promise<Run> {
  const env = { ...process.env, HOLDFAST_PORT: undefined };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', 'src/cli/main.ts', ...args],
      { cwd: root, env },
      (error, stdout, stderr) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

describe('holdfast', () => {
  test('prints its help when nothing is asked of it', async () => {
    const { code, stdout } = await holdfast();

    expect(code).toBe(0);
    expect(stdout).toContain('Usage: holdfast');
    expect(stdout).toContain('serve');
  });

  test('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

    expect(await holdfast('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('lists every option and its variable in the help of serve', async () => {
    const { code, stdout } = await holdfast('serve', '--help');

    expect(code).toBe(0);
    const text = stdout.replace(/\s+/g, ' ');
    for (const { flag, value, env } of Object.values(OPTIONS)) {
      expect(text).toContain(`${flag} <${value}>`);
      expect(text).toContain(env);
    }
  });

  test.each([
    [['--colour'], `error: unknown option '--colour'`],
    [['serve', '--prot', '80'], `error: unknown option '--prot'`],
    [['serve', '--port'], `error: option '--port <port>' argument missing`],
    [['serve', 'now'], 'error: too many arguments'],
    [['sevre'], `error: unknown command 'sevre'`],
    [['serve', '--port', 'http'], 'error: --port: "http" is not a whole number from 0 to 65535.'],
    [['serve', '--agents', 'a.ts', '--agents', 'b.py'], 'error: --agents: there is no file'],
    [['serve', '--auth', 'jwt'], 'error: --auth: jwt takes either --jwt-jwks or --jwt-secret-file.'],
    [['serve', '--jwt-issuer', 'x'], 'error: --auth: what is said of JWTs takes --auth jwt.'],
    [['serve', '--auth', 'jwt', '--jwt-jwks', 'http://x/', '--jwt-issuer', 'x'], 'error: --jwt-audience: --auth jwt'],
    [
      ['serve', '--auth', 'jwt', '--jwt-secret-file', 'package.json/no', '--jwt-issuer', 'x', '--jwt-audience', 'x'],
      'error: --jwt-secret-file: ',
    ],
  ])('refuses %j with exit code 2 and one clear line', async (args, message) => {
    const { code, stdout, stderr } = await holdfast(...args);

    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
  });
});
