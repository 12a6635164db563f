/** What requests can name: things of the server that answers have told of, by kind. */
export type HarvestKind = 'task' | 'qst' | 'conv' | 'msg' | 'page' | 'cursor';

/** So many of a kind are remembered; with more, requests would seldom meet at the same thing. */
const ROOM = 60;
/** Of one answer. */
const MAX_FOUND = 8;
const FOUND =
  /"((task|qst|conv|msg)_[0-9a-z]{26})"|"(nextPage)":"([^"]+)"|"(cursor|last|before|id)":"([a-z0-9]+\.\d+)"/g;
const TOKEN = /\{\{(task|qst|conv|msg|page|cursor):(\d+)\}\}/g;
/** What a token stands for while nothing of its kind is known. */
const UNKNOWN: Record<HarvestKind, string> = {
  task: 'task_00000000000000000000000000',
  qst: 'qst_00000000000000000000000000',
  conv: 'conv_00000000000000000000000000',
  msg: 'msg_00000000000000000000000000',
  page: 'dGFza3M',
  cursor: '0',
};

/** Gathers names from answers, so that later requests get deep. */
export class Harvest {
  readonly #known: Record<HarvestKind, string[]> = { task: [], qst: [], conv: [], msg: [], page: [], cursor: [] };
  readonly #counts: Record<HarvestKind, number> = { task: 0, qst: 0, conv: 0, msg: 0, page: 0, cursor: 0 };

  /** @param text the body of an answer */
  gather(text: string): void {
    let found = 0;
    for (const [, id, prefix, , page, , cursor] of text.matchAll(FOUND)) {
      if (id !== undefined) this.#keep(prefix as HarvestKind, id);
      else if (page !== undefined) this.#keep('page', page);
      else if (cursor !== undefined) this.#keep('cursor', cursor);
      if (++found === MAX_FOUND) return;
    }
  }

  /** Puts what is known in the place of `{{task:17}}` and its like. */
  fill(text: string): string {
    if (!text.includes('{{')) return text;
    return text.replace(TOKEN, (_token, kind: HarvestKind, number: string) => {
      const known = this.#known[kind];
      return known[Number(number) % Math.max(1, known.length)] ?? UNKNOWN[kind];
    });
  }

  #keep(kind: HarvestKind, text: string): void {
    const known = this.#known[kind];
    if (known.includes(text)) return;
    known[this.#counts[kind]++ % ROOM] = text;
  }
}
