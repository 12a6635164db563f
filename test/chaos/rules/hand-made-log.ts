import type { Logged, Story } from '../story.ts';

/** An event before the log has given it a place. `ms` is when it happened; what has none happened with the one before. */
export interface Happened extends Pick<Logged, 'type' | 'taskId' | 'data'> {
  ms?: number;
  step?: { name: string; attempt: number };
}

/** When hand-made stories begin, epoch ms. */
export const EPOCH_MS = Date.UTC(2026, 0, 1);

/** A log in which these things happened. */
export function logOf(events: readonly Happened[]): Logged[] {
  let ms = 0;
  return events.map(({ type, taskId, data, step, ms: own }, index) => {
    ms = own ?? ms;
    const seq = index + 1;
    const at = new Date(EPOCH_MS + ms).toISOString();
    const logged = { seq, type, taskId, conversationId: null, at, data, ...(step && { step }) };
    return { ...logged, id: `e.${seq}`, text: JSON.stringify(logged) };
  });
}

/** The same story with other things in its log. What readers were told, and all else, stays. */
export function retold(story: Story, edit: (log: readonly Happened[]) => Happened[]): Story {
  const events = story.log.map(({ type, taskId, data, step, at }) => {
    return { type, taskId, data, ms: Date.parse(at) - EPOCH_MS, ...(step && { step }) };
  });
  return { ...story, log: logOf(edit(structuredClone(events))) };
}

/** The same story without the events that `unwanted` takes. */
export function without(story: Story, unwanted: (event: Happened) => boolean): Story {
  return retold(story, (log) => log.filter((event) => !unwanted(event)));
}

/** The same story with the events that `chosen` takes told again, at the end. */
export function again(story: Story, chosen: (event: Happened) => boolean): Story {
  return retold(story, (log) => [...log, ...log.filter(chosen)]);
}

/** The same story in which the events that `chosen` takes say something else. */
export function changed(story: Story, chosen: (event: Happened) => boolean, data: object): Story {
  return retold(story, (log) =>
    log.map((event) => (chosen(event) ? { ...event, data: { ...event.data, ...data } } : event)),
  );
}

/** Whether an event is of this type, and of this task if one is named. */
export function is(type: string, taskId?: string): (event: Happened) => boolean {
  return (event) => event.type === type && (taskId === undefined || event.taskId === taskId);
}
