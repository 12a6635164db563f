import { StartRefusal } from '../start-refusal.ts';

/** The library that speaks to PostgreSQL, which is installed only where it is needed. */
export type Postgres = typeof import('postgres');

/** @throws StartRefusal when it is not installed */
export async function loadPostgres(): Promise<Postgres> {
  try {
    const { default: postgres } = await import('postgres');
    return postgres;
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new StartRefusal(
      'A PostgreSQL needs the package "postgres" beside this one: npm install postgres@3.4.9',
      error,
    );
  }
}
