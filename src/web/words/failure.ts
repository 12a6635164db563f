import { HoldfastError } from '../../client/index.ts';

/** What went wrong, for people. */
export function failureWords(error: unknown): string {
  if (!(error instanceof HoldfastError)) return 'Something in this page went wrong. Load it again.';
  switch (error.code) {
    case 'unreachable':
      return 'The server cannot be reached.';
    case 'forbidden':
      return `The server does not allow it. ${error.message}`;
    case 'not_found':
      return 'This does not exist, or has been deleted.';
    case 'storage_full':
      return 'The server has no room left on its disk.';
    case 'storage_unavailable':
      return 'The server cannot reach its database. Try again in a moment.';
    case 'draining':
      return 'The server is about to stop. Try again once it is back.';
    case 'overloaded':
      return 'The server has too much to do. Try again in a moment.';
    default:
      return error.message;
  }
}
