import { describe, expect, test } from 'vitest';
import type { Block, Reading } from '../history.ts';
import type { Story } from '../story.ts';
import { exactReadings } from './exact-readings.ts';
import { FAILING, goodStory } from './good-story.ts';

const judged = (story: Story) => Array.from(exactReadings.judge(story), ({ text }) => text);

/** The good story in which one reader was told something else over one connection. */
function told(index: number, edit: (blocks: Block[]) => Block[], connection = 0): Story {
  const story = goodStory();
  const readings = structuredClone(story.readings) as Reading[];
  const found = readings[index]?.connections[connection];
  if (found === undefined) throw new Error('There is no such connection.');
  found.blocks = edit(found.blocks);
  return { ...story, readings };
}

describe('exact readings', () => {
  test('have no hole where a connection was lost', () => {
    expect(judged(told(0, (blocks) => blocks.slice(1), 1))).toEqual([
      'The reader "from the beginning" was told 7 where 6 comes next.',
    ]);
  });

  test('have nothing twice', () => {
    expect(judged(told(0, (blocks) => [...blocks.slice(0, 1), ...blocks]))).toEqual([
      'The reader "from the beginning" was told 1 where 2 comes next.',
    ]);
  });

  test('come to the end of the log', () => {
    expect(judged(told(0, (blocks) => blocks.slice(0, 4), 1))).toEqual([
      'The reader "from the beginning" was told nothing where 10 comes next.',
    ]);
  });

  test('of what is unfinished leave out what had ended when they began, and nothing else', () => {
    const { log } = goodStory();
    const ended = log.filter(({ taskId }) => taskId === FAILING)[0];
    const block = { id: `${ended?.id}.7`, event: null, data: ended?.text ?? '' };

    expect(judged(told(1, (blocks) => [...blocks.slice(0, 2), block, ...blocks.slice(2)]))).toEqual([
      'The reader "unfinished" was told 3 where 4 comes next.',
    ]);
    expect(judged(told(1, (blocks) => blocks.slice(0, -1)))).toEqual([
      'The reader "unfinished" was told nothing where 35 comes next.',
    ]);
  });

  test('of one task have its events alone', () => {
    const { log } = goodStory();
    const foreign = { id: 'e.8', event: null, data: log[7]?.text ?? '' };

    expect(judged(told(2, (blocks) => [...blocks, foreign]))).toEqual([
      `The reader "one task" was told 8 where nothing comes next.`,
    ]);
  });

  test('never have a reset, unless the nemesis may take back what was acknowledged', () => {
    const reset = { id: 'e.5', event: 'reset', data: '{"reason":"ahead"}' };
    const bad = told(0, (blocks) => [reset, ...blocks], 1);

    expect(judged(bad)).toEqual(['The reader "from the beginning" was told a reset.']);
    expect(judged({ ...bad, mayReset: true })).toEqual([]);
  });

  test('may break off between the last event and `end`', () => {
    expect(judged(told(2, (blocks) => blocks.filter(({ event }) => event !== 'end')))).toEqual([]);
  });

  test('are never refused, and are told that there is nothing more only behind the end', () => {
    const refused = { asked: 'e.35', status: 500, blocks: [] };
    const story = goodStory();
    const readings = structuredClone(story.readings) as Reading[];
    readings[0]?.connections.push(refused);
    readings[2]?.connections.unshift({ asked: null, status: 204, blocks: [] });

    expect(judged({ ...story, readings })).toEqual([
      'The reader "from the beginning" got 500 for /v1/events at e.35.',
      `The reader "one task" got 204 for /v1/tasks/${FAILING}/events at null.`,
    ]);
  });
});
