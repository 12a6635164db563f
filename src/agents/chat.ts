import { createAssistant } from './create-assistant.ts';

/** Answers with one call of the model of the environment, and no tools. */
export const chat = createAssistant({
  name: 'chat',
  description: 'Answers a message in one go, without tools.',
});
