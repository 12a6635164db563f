import type { Story } from '../story.ts';
import { acknowledged } from './acknowledged.ts';
import { asScripted } from './as-scripted.ts';
import { attempts } from './attempts.ts';
import { closedMessages } from './closed-messages.ts';
import { denseLog } from './dense-log.ts';
import { exactReadings } from './exact-readings.ts';
import { heardAnswers } from './heard-answers.ts';
import { heardChildren } from './heard-children.ts';
import { journaledSteps } from './journaled-steps.ts';
import { nothingStuck } from './nothing-stuck.ts';
import { oneEnd } from './one-end.ts';
import { oneResolution } from './one-resolution.ts';
import { orderlyLives } from './orderly-lives.ts';
import { outsideEvents } from './outside-events.ts';
import type { Rule, Violation } from './rule.ts';

const RULES: readonly Rule[] = [
  orderlyLives,
  denseLog,
  exactReadings,
  acknowledged,
  oneEnd,
  asScripted,
  attempts,
  journaledSteps,
  outsideEvents,
  closedMessages,
  oneResolution,
  heardAnswers,
  heardChildren,
  nothingStuck,
];

/** Everything in a story that breaks a rule. */
export function judge(story: Story): Violation[] {
  return RULES.flatMap((rule) => Array.from(rule.judge(story), (finding) => ({ rule: rule.name, ...finding })));
}
