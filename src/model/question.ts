import { z } from 'zod';
import type { JsonObject } from './json.ts';
import { type QuestionItem, questionItemSchema } from './question-item.ts';

export const DEFAULT_QUESTION_TIMEOUT_MS = 15 * 60_000;

/** The wire form of a question. @see docs/protocol.md §6 */
export const questionSchema = z.object({
  id: z.string(),
  taskId: z.string(),
  conversationId: z.string().nullable(),
  name: z.string(),
  status: z.enum(['pending', 'answered', 'declined', 'expired', 'cancelled']),
  items: z.array(questionItemSchema),
  metadata: z.record(z.string(), z.json()),
  answers: z.record(z.string(), z.json()).nullable(),
  resolvedBy: z.string().nullable(),
  reason: z.string().nullable(),
  askedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  resolvedAt: z.iso.datetime().nullable(),
});

export type QuestionStatus = z.infer<typeof questionSchema>['status'];
export type Question = z.infer<typeof questionSchema>;
export type Answers = JsonObject;

/** Why a question was cancelled. @see docs/protocol.md §6 */
export type CancelReason = 'cancelled' | 'interrupted' | 'task_finished' | 'withdrawn';

/** How a pending question came to its end. */
export type Resolution =
  | { status: 'answered'; at: number; answers: Answers; resolvedBy: string }
  | { status: 'declined'; at: number; reason: string | null; resolvedBy: string }
  | { status: 'expired'; at: number }
  | { status: 'cancelled'; at: number; reason: CancelReason };

/** A question as it is stored. `expiresAt` and `askedAt` are epoch ms; null never expires. */
export interface QuestionRecord {
  id: string;
  taskId: string;
  /** Its task's. */
  conversationId: string | null;
  /** The key under which the agent asked: `dates`, `dates#2`. */
  name: string;
  items: QuestionItem[];
  metadata: JsonObject;
  askedAt: number;
  expiresAt: number | null;
  resolution: Resolution | null;
}

/** The wire form of a stored question. */
export function toQuestion(record: QuestionRecord): Question {
  const { resolution } = record;
  return {
    id: record.id,
    taskId: record.taskId,
    conversationId: record.conversationId,
    name: record.name,
    status: resolution === null ? 'pending' : resolution.status,
    items: record.items,
    metadata: record.metadata,
    answers: resolution?.status === 'answered' ? resolution.answers : null,
    resolvedBy: resolution !== null && 'resolvedBy' in resolution ? resolution.resolvedBy : null,
    reason: resolution !== null && 'reason' in resolution ? resolution.reason : null,
    askedAt: new Date(record.askedAt).toISOString(),
    expiresAt: record.expiresAt === null ? null : new Date(record.expiresAt).toISOString(),
    resolvedAt: resolution === null ? null : new Date(resolution.at).toISOString(),
  };
}
