import type { Story } from '../story.ts';

/** Something that must be true of every story. Pure: it looks at nothing but the story. */
export interface Rule {
  /** A sentence. */
  name: string;
  /** Everything that breaks it; nothing when it holds. */
  judge(story: Story): Iterable<Finding>;
}

export interface Finding {
  /** What is wrong, and of what. */
  text: string;
  /** What shows it, for people to look at. */
  evidence: unknown;
}

export interface Violation extends Finding {
  rule: string;
}
