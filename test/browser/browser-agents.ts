import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ItemSpec } from '../../src/model/question-spec.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { HOSTILE_TEXTS } from './hostile-texts.ts';

/** How many events may be on their way to the disk: enough for a group commit to carry many. */
const HELD = 64;

/** Tickers as its children: together they may tell more, and faster, than one of them. */
export const tickers = defineAgent({
  name: 'tickers',
  input: z.object({ children: z.number().int(), count: z.number().int() }),
  async run(task, { children, count }) {
    const spawned = Array.from({ length: children }, () => task.spawn('ticker', 'ticker', { count, everyMs: 0 }));
    for (const child of await Promise.all(spawned)) await child.result();
    return { children };
  },
});

/** Emits `count` numbered events, one each `everyMs`, and no more once it is cancelled. */
export const ticker = defineAgent({
  name: 'ticker',
  input: z.object({ count: z.number().int(), everyMs: z.number().default(0) }),
  async run(task, { count, everyMs }) {
    let last = Promise.resolve();
    for (let n = 0; n < count; n++) {
      if (everyMs > 0) await delay(everyMs, undefined, { signal: task.signal });
      last = task.emit('tick.told', { n });
      if (n % HELD === HELD - 1) await last;
    }
    await last;
    return { count };
  },
});

/** A turn: writes so many numbered words, one each `everyMs`. Written to as `<words> <everyMs>`. */
export const speaker = defineAgent<{ message: string }>({
  name: 'speaker',
  async run(task, { message }) {
    const [words = 0, everyMs = 0] = message.split(' ').map(Number);
    await task.say('speech', async function* ({ signal }) {
      for (let n = 0; n < words; n++) {
        yield `word-${n} `;
        if (everyMs > 0) await delay(everyMs, undefined, { signal });
      }
    });
  },
});

const FORMS: { [form: string]: ItemSpec[] } = {
  text: [{ id: 'word', prompt: 'Which word?' }],
  choice: [{ id: 'month', prompt: 'Which month?', options: ['June', 'July', 'August'] }],
  form: [
    { id: 'city', prompt: 'Which city?', header: 'City', options: ['Lisbon', 'Porto'], allowOther: true },
    { id: 'nights', prompt: 'How many nights?', header: 'Nights', type: 'number', minimum: 1, integer: true },
    { id: 'window', prompt: 'A seat at the window?', header: 'Seat', type: 'boolean' },
  ],
};

const FORMATS = `# A heading

Words that are **strong**, *stressed*, ~~gone~~ and \`code\`, and [a link](https://example.com).

1. first
2. second
   - [ ] to do
   - [x] done

> Somebody said so.

| month | euros |
|---|---:|
| June | 240 |

\`\`\`ts
const answer = 42;
\`\`\`

---

The end.`;

/** A turn: asks, and says what came of it. Written to as `<form> <timeoutMs>`; without a time there are 15 minutes. */
export const asker = defineAgent<{ message: string }>({
  name: 'asker',
  async run(task, { message }) {
    const [form = '', timeout] = message.split(' ');
    const timeoutMs = timeout === undefined ? 15 * 60_000 : Number(timeout);
    const reply = await task.ask('question', { items: FORMS[form] ?? [], timeoutMs });
    await task.say('outcome', `It was ${reply.status}.`);
    return reply;
  },
});

/** A turn: asks so many questions, one after the other, each at once when the one before is closed. */
export const quizzer = defineAgent<{ message: string }>({
  name: 'quizzer',
  async run(task, { message }) {
    for (let n = 0; n < Number(message); n++) {
      await task.ask('round', { items: [{ id: 'word', prompt: `Round ${n}: which word?` }] });
    }
  },
});

/** A turn: puts hostile texts, from one number to another, into every place that takes text, and waits. */
export const villain = defineAgent<{ message: string }>({
  name: 'villain',
  async run(task, { message }) {
    const [from, to] = message.split(' ').map(Number);
    const texts = HOSTILE_TEXTS.slice(from, to);
    for (const [n, text] of texts.entries()) {
      await task.say('evil', text);
      const tool = { toolCallId: `evil-${n}`, name: cut(text, 255), input: { text } };
      await task.step(cut(text.replaceAll(/[#>]/g, '+'), 64), () => ({ found: text }), n % 2 === 0 ? { tool } : {});
    }
    const [text = ''] = texts;
    await task.progress(0.5, cut(text, 200));
    await task.ask('evil', {
      items: [
        {
          id: 'choice',
          header: cut(text, 80),
          prompt: cut(text, 4000),
          options: texts
            .slice(0, 50)
            .map((each, n) => ({ value: `v${n}`, label: cut(each, 200), description: cut(each, 1000) })),
        },
      ],
      metadata: { text },
    });
  },
});

/** A turn: fails with a hostile text. Written to as its number. */
export const saboteur = defineAgent<{ message: string }>({
  name: 'saboteur',
  run(_task, { message }) {
    throw new Error(HOSTILE_TEXTS[Number(message)]);
  },
});

/** A turn: answers with every form of Markdown that a page shows. */
export const formatter = defineAgent<{ message: string }>({
  name: 'formatter',
  run: (task) => task.say('formats', FORMATS),
});

/** A turn: says so many short messages, as many as it is written. */
export const chatter = defineAgent<{ message: string }>({
  name: 'chatter',
  async run(task, { message }) {
    const said: Promise<string>[] = [];
    for (let n = 0; n < Number(message); n++) {
      said.push(task.say('line', `Line **${n}** of what is said, with a [link](https://example.com/${n}).`));
      if (n % HELD === HELD - 1) await Promise.all(said.splice(0));
    }
    await Promise.all(said);
  },
});

/** A turn: says nothing. */
export const mute = defineAgent<{ message: string }>({ name: 'mute', run: () => null });

function cut(text: string, length: number): string {
  let start = '';
  for (const character of text) {
    if (start.length + character.length > length) break;
    start += character;
  }
  return start;
}
