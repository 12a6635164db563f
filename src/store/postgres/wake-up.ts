/** What one node tells the others: that it has committed for some owners, or for many. */
export interface WakeUp {
  /** Which node says so. */
  sender: string;
  /** Marks of owners; null when there are too many to name. */
  marks: readonly string[] | null;
}

/** On which channel of the database wake-ups go. */
export const CHANNEL = 'holdfast';
/** Of the 8,000 bytes that a payload may have. */
const MAX_PAYLOAD_BYTES = 7_900;
const MANY = '*';

/** `sender mark,mark` in ASCII. */
export function formatWakeUp({ sender, marks }: WakeUp): string {
  const payload = `${sender} ${marks === null ? MANY : marks.join(',')}`;
  return payload.length > MAX_PAYLOAD_BYTES ? `${sender} ${MANY}` : payload;
}

export function parseWakeUp(payload: string): WakeUp {
  const [sender = '', list = ''] = payload.split(' ');
  return { sender, marks: list === MANY ? null : list.split(',').filter((mark) => mark !== '') };
}
