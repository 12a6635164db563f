import type { Dice } from '../support/dice.ts';

/** An answer in short. */
export interface Said {
  status: number;
  text: string;
}

/** How a flow talks to the server: each call is one request, judged like any other. */
export interface FlowWire {
  ask(method: string, target: string, body?: unknown): Promise<Said>;
  /** Opens a stream, and holds it until `while` is over. */
  hold(target: string, during: () => Promise<unknown>): Promise<void>;
}

type Flow = (wire: FlowWire, dice: Dice) => Promise<void>;

const ANSWERS = { a: 'Yes', b: ['1'] };

/** What people and programs really do, with something odd in the middle. */
export const FLOWS: Record<string, Flow> = {
  async 'answers twice, and otherwise'(wire) {
    const { question } = await askedTask(wire);
    const path = `/v1/questions/${question}/answers`;
    await Promise.all([
      wire.ask('POST', path, { answers: ANSWERS }),
      wire.ask('POST', path, { answers: ANSWERS }),
      wire.ask('POST', path, { answers: { a: 'no', b: [] } }),
    ]);
    await wire.ask('POST', path, { answer: 'Yes' });
  },

  async 'cancels while answering'(wire, dice) {
    const { task, question } = await askedTask(wire);
    const calls = [
      () => wire.ask('POST', `/v1/questions/${question}/answers`, { answers: ANSWERS }),
      () => wire.ask('POST', `/v1/tasks/${task}/cancel`, { reason: 'odd\u2028one' }),
      () => wire.ask('POST', `/v1/questions/${question}/decline`, {}),
    ];
    if (dice.below(2) === 0) calls.reverse();
    await Promise.all(calls.map((call) => call()));
    await wire.ask('GET', `/v1/tasks/${task}/events?after=0`);
  },

  async 'deletes a conversation with open streams and a turn'(wire, dice) {
    const id = idIn(
      (await wire.ask('POST', '/v1/conversations', { title: '\u0301x', metadata: { constructor: 1 } })).text,
    );
    const path = `/v1/conversations/${id}`;
    const agent = dice.pick(['fuzz-talker', 'fuzz-asker', 'fuzz-echo', 'assistant']);
    await wire.ask('POST', `${path}/messages`, { content: 'Hi', agent });
    await wire.hold(`${path}/events`, () =>
      wire.hold(`${path}/events?after=latest`, async () => {
        await wire.ask('POST', `${path}/messages`, {
          content: 'And?',
          agent,
          whenBusy: dice.pick(['steer', 'enqueue', 'reject']),
        });
        await Promise.all([
          wire.ask('DELETE', path),
          wire.ask('POST', `${path}/messages`, { content: 'Too late', agent }),
          wire.ask('GET', `${path}/messages`),
        ]);
      }),
    );
    await wire.ask('GET', `${path}/events`);
    await wire.ask('DELETE', path);
  },

  async 'retries what failed while it is watched'(wire) {
    const task = await created(wire, { agent: 'fuzz-doer', input: { fails: true, emits: 3, asks: 0 } });
    await wire.ask('GET', `/v1/tasks/${task}?wait=20`);
    await Promise.all([wire.ask('POST', `/v1/tasks/${task}/retry`), wire.ask('POST', `/v1/tasks/${task}/retry`, {})]);
    await wire.ask('POST', `/v1/tasks/${task}/cancel`);
  },

  async 'uses one key for two requests at once'(wire, dice) {
    const body = { agent: 'fuzz-echo', input: { key: dice.below(50) } };
    const target = '/v1/tasks?wait=5';
    await Promise.all([wire.ask('POST', target, body), wire.ask('POST', target, body)]);
  },

  async 'watches a tree that is cancelled'(wire) {
    const task = await created(wire, { agent: 'fuzz-doer', input: { spawns: 2, asks: 1, sleepMs: 1000 } });
    await wire.hold(`/v1/tasks/${task}/events?event=type`, () => wire.ask('POST', `/v1/tasks/${task}/cancel`));
    await wire.ask('GET', `/v1/tasks/${task}/events?after=0&limit=1`);
  },

  async 'pages to the end while it grows'(wire) {
    let page = '';
    for (let turn = 0; turn < 4; turn++) {
      const { text } = await wire.ask('GET', `/v1/tasks?limit=3${page}`);
      const next = /"nextPage":"([^"]+)"/.exec(text)?.[1];
      if (next === undefined) return;
      page = `&page=${next}`;
      if (turn === 1) await created(wire, { agent: 'fuzz-echo' });
    }
  },

  async 'lets many wait for one task'(wire, dice) {
    const task = await created(wire, { agent: 'fuzz-doer', input: { sleepMs: dice.below(100), asks: 1 } });
    await Promise.all(Array.from({ length: 5 }, (_, n) => wire.ask('GET', `/v1/tasks/${task}?wait=${n}`)));
    await wire.ask('POST', `/v1/tasks/${task}/cancel`);
  },
};

async function created(wire: FlowWire, body: object): Promise<string> {
  return idIn((await wire.ask('POST', '/v1/tasks', body)).text);
}

async function askedTask(wire: FlowWire): Promise<{ task: string; question: string }> {
  const task = idIn((await wire.ask('POST', '/v1/tasks?wait=20', { agent: 'fuzz-asker', input: 'x' })).text);
  const { text } = await wire.ask('GET', `/v1/questions?status=pending&taskId=${task}`);
  return { task, question: idIn(text) };
}

/** The first id in an answer; one that nobody has where it was refused. */
function idIn(text: string): string {
  return /"id":"([a-z]+_[0-9a-z]{26})"/.exec(text)?.[1] ?? 'task_00000000000000000000000000';
}
