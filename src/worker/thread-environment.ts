/**
 * What a program needs to find its files, its words and its certificates. Not in it: proxies, whose URLs may hold a
 * password, and which `fetch` does not look at; and `NODE_OPTIONS`, which is the server's own.
 */
const OF_ANY_PROGRAM = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'TMPDIR',
  'TZ',
  'LANG',
  'LC_*',
  'NODE_ENV',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

/** Without these no program of Windows starts. */
const OF_WINDOWS = [
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'WINDIR',
  'PATHEXT',
  'COMSPEC',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'USERNAME',
  'HOMEDRIVE',
  'HOMEPATH',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROCESSOR_ARCHITECTURE',
];

/** What the built-in agents are set up by. Every other name of the server's own begins like these and goes to no agent. */
const OF_BUILT_IN_AGENTS = [
  'HOLDFAST_MODEL',
  'HOLDFAST_MODEL_URL',
  'HOLDFAST_MODEL_KEY',
  'HOLDFAST_MODEL_IDLE_MS',
  'HOLDFAST_SYSTEM_PROMPT',
  'HOLDFAST_MAX_STEPS',
  'HOLDFAST_MCP_CONFIG',
];
const OWN_PREFIX = 'HOLDFAST_';

/**
 * The environment of a thread that runs agents: of the server's own what they need, and nothing that nobody has named.
 *
 * @param names what else is passed on: names of variables, or beginnings of names followed by `*`. What configures the
 *   server itself is not passed on under any of them.
 * @see docs/agents.md
 */
export function threadEnvironment(
  env: NodeJS.ProcessEnv,
  names: readonly string[],
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  const isWindows = platform === 'win32';
  const fold = (name: string) => (isWindows ? name.toUpperCase() : name);
  const general = [...OF_ANY_PROGRAM, ...(isWindows ? OF_WINDOWS : []), ...names].map(fold);
  const mayPass = (name: string) =>
    name.startsWith(OWN_PREFIX)
      ? OF_BUILT_IN_AGENTS.includes(name)
      : general.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
  return Object.fromEntries(Object.entries(env).filter(([name]) => mayPass(fold(name))));
}
