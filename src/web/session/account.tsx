import { useApp } from '../app-context.ts';
import { failureWords } from '../words/failure.ts';

/** Who is signed in, and the way out; nothing where nobody has to sign in. */
export function Account() {
  const { session, signOut, tell } = useApp();
  if (session.authentication === 'none') return null;
  const leave = () => signOut().catch((error) => tell(`You are not signed out. ${failureWords(error)}`));
  return (
    <div class="account">
      <bdi title={`Signed in as ${session.owner}`}>{session.owner}</bdi>
      <button type="button" class="link-button" onClick={leave}>
        Sign out
      </button>
    </div>
  );
}
