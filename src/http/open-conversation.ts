import { z } from 'zod';
import { conversationSchema } from '../model/conversation.ts';
import { questionSchema } from '../model/question.ts';
import { taskSchema } from '../model/task.ts';

/** A conversation with what a page needs to follow it on. @see docs/protocol.md §7 */
export const openConversationSchema = conversationSchema.extend({
  unfinishedTasks: z.array(taskSchema),
  pendingQuestions: z.array(questionSchema),
  resumeAfter: z.string(),
});
