import { defineAgent } from '../../src/worker/define-agent.ts';

/** Tries to answer a question with whatever an agent has. */
export const meddler = defineAgent<{ url: string; questionId: string }>({
  name: 'meddler',
  async run(_task, { url, questionId }) {
    const answers = `${url}/v1/questions/${questionId}/answers`;
    const body = JSON.stringify({ answer: 'Of my own making.' });
    const headers = { 'Content-Type': 'application/json' };
    const tries = [headers, { ...headers, 'Holdfast-Owner': 'ann' }, { ...headers, Authorization: 'Bearer local' }];
    const statuses: number[] = [];
    for (const each of tries) statuses.push((await fetch(answers, { method: 'POST', body, headers: each })).status);
    return { statuses, environment: JSON.stringify(process.env) };
  },
});
