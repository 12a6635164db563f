import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Entry, Question, QuestionEntry } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { withPastQuestions } from './past-questions.ts';

const PAGE_SIZE = 200;
/** How many pages of questions a conversation is looked through for. */
const MAX_PAGES = 10;

/** The entries of a conversation with the questions that were resolved before it was opened. */
export function usePastQuestions(conversationId: string, entries: readonly Entry[]): readonly Entry[] {
  const { client } = useApp();
  const [past, setPast] = useState<ReadonlyMap<string, QuestionEntry>>(new Map());

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    async function read(): Promise<void> {
      const found: Question[] = [];
      let page: string | null = null;
      for (let count = 0; count < MAX_PAGES; count++) {
        const query = { conversationId, limit: PAGE_SIZE, ...(page !== null && { page }) };
        const read: { items: Question[]; nextPage: string | null } = await client.questions.list(query, { signal });
        found.push(...read.items);
        page = read.nextPage;
        if (page === null) break;
      }
      const resolved = found.filter(({ status }) => status !== 'pending');
      setPast(new Map(resolved.map((question) => [question.id, { kind: 'question', key: question.id, question }])));
    }
    // Without them the conversation is what it was: messages tell what was answered as well.
    read().catch(() => {});
    return () => stop.abort();
  }, [client, conversationId]);

  return useMemo(() => withPastQuestions(entries, past), [entries, past]);
}
