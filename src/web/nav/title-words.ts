const MAX_LENGTH = 60;

const WHEN = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' });

/** What a conversation is called; one without a title by its beginning. */
export function titleWords({ title, createdAt }: { title: string | null; createdAt: string }): string {
  return title === null || title.trim() === '' ? `Conversation of ${WHEN.format(new Date(createdAt))}` : title;
}

/** What a conversation is called that begins with a message: its first line, cut between words. */
export function titleOf(message: string): string {
  const line = message.trim().split('\n', 1)[0]?.replaceAll(/\s+/g, ' ').trim() ?? '';
  if (line.length <= MAX_LENGTH) return line;
  const cut = line.slice(0, MAX_LENGTH);
  const space = cut.lastIndexOf(' ');
  return `${(space > MAX_LENGTH / 2 ? cut.slice(0, space) : cut).trim()}…`;
}
