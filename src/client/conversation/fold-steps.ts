import type { EventData, StepRef } from '../../model/event.ts';
import type { ActivityEntry, Entry, TextEntry } from './conversation-view.ts';
import { remove, replace, tell } from './entry-place.ts';
import type { FoldState } from './fold-state.ts';

/** An activity, with where it comes from. */
interface StepActivity extends ActivityEntry {
  /** Its key: a tool's activity has the tool's name. */
  step: string;
  /** Of its `step.started`. */
  seq: number;
}

/** What is being said, with the step that says it. */
export interface StepText extends TextEntry {
  step: StepRef | undefined;
}

/**
 * A higher attempt takes the place of the one before, and voids what that was saying. The same number again is another
 * beginning, after the journal was cut: what was is left as it ended.
 */
export function stepStarted(
  state: FoldState,
  taskId: string,
  { name, attempt }: StepRef,
  { seq, at }: { seq: number; at: string },
): FoldState {
  const before = activityOf(state, taskId, name);
  const key = before !== undefined && before.attempt < attempt ? before.key : `step ${seq}`;
  const activity: StepActivity = {
    kind: 'activity',
    ...{ key, taskId, step: name, seq, name, attempt },
    ...{ tool: null, status: 'running', startedAt: at, ms: null, error: null },
  };
  const isVoid = (entry: Entry) =>
    isStepText(entry) && entry.taskId === taskId && entry.step?.name === name && entry.step.attempt < attempt;
  return tell(remove(state, isVoid), activity, at);
}

export function toolCalled(activity: ActivityEntry, data: EventData['tool.called']): ActivityEntry {
  const { toolCallId, name, input } = data;
  return { ...activity, name, tool: { toolCallId, input, output: null, truncated: false } };
}

export function toolReturned(activity: ActivityEntry, data: EventData['tool.returned']): ActivityEntry {
  if ('error' in data) return { ...activity, error: data.error };
  if (activity.tool === null) return activity;
  return { ...activity, tool: { ...activity.tool, output: data.output, truncated: data.truncated === true } };
}

export function stepFailed(activity: ActivityEntry, { error }: EventData['step.failed'], at: string): ActivityEntry {
  return { ...activity, status: 'failed', error, ms: Date.parse(at) - Date.parse(activity.startedAt) };
}

/** Changes the entry of a step, if it has one. @param name the step's key */
export function changeActivity(
  state: FoldState,
  taskId: string,
  name: string | undefined,
  change: (activity: ActivityEntry) => ActivityEntry,
): FoldState {
  const activity = activityOf(state, taskId, name);
  return activity === undefined ? state : replace(state, change(activity));
}

/** Nothing of the task runs any more: what did has come to nothing. */
export function closeActivities(state: FoldState, taskId: string): FoldState {
  const entries = state.entries.map((entry): Entry => {
    const isRunning = entry.kind === 'activity' && entry.taskId === taskId && entry.status === 'running';
    return isRunning ? { ...entry, status: 'failed' } : entry;
  });
  return { ...state, entries };
}

export function isOfStep(entry: Entry, taskId: string, name: string | undefined): entry is StepActivity {
  return entry.kind === 'activity' && entry.taskId === taskId && 'step' in entry && entry.step === name;
}

function isStepText(entry: Entry): entry is StepText {
  return entry.kind === 'text';
}

/** That of the step's newest beginning. */
function activityOf({ entries }: FoldState, taskId: string, name: string | undefined): StepActivity | undefined {
  const ofStep = (entry: Entry): entry is StepActivity => isOfStep(entry, taskId, name);
  return entries.filter(ofStep).pop();
}
