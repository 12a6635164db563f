import { readFileSync } from 'node:fs';
import { type JwtOptions, MIN_SECRET_BYTES } from '../access/jwt.ts';
import { type Config, ConfigError } from '../config.ts';

/**
 * What JWTs are checked with; undefined but with `--auth jwt`.
 *
 * @throws ConfigError when something is missing, or given without it
 */
export function jwtOptionsOf(config: Config): JwtOptions | undefined {
  const { auth, jwtKeys, jwtSecretFile, jwtAudience: audience, jwtIssuer: issuer } = config;
  if (auth !== 'jwt') {
    const given = jwtKeys ?? jwtSecretFile ?? audience ?? issuer;
    if (given !== null) throw new ConfigError('--auth: what is said of JWTs takes --auth jwt.');
    return undefined;
  }
  if ((jwtKeys === null) === (jwtSecretFile === null)) {
    throw new ConfigError('--auth: jwt takes either --jwt-jwks or --jwt-secret-file.');
  }
  if (audience === null) throw new ConfigError('--jwt-audience: --auth jwt takes it.');
  if (issuer === null) throw new ConfigError('--jwt-issuer: --auth jwt takes it.');
  return { keys: jwtKeys === null ? { secret: secretIn(jwtSecretFile ?? '') } : { jwks: jwtKeys }, audience, issuer };
}

/** The line that editors end a file with is no part of it. */
function secretIn(file: string): Uint8Array {
  const secret = new TextEncoder().encode(read(file).replace(/\r?\n$/, ''));
  if (secret.length >= MIN_SECRET_BYTES) return secret;
  throw new ConfigError(`--jwt-secret-file: ${file} holds ${secret.length} bytes, not ${MIN_SECRET_BYTES} or more.`);
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`--jwt-secret-file: ${file} cannot be read.`, { cause: error });
  }
}
