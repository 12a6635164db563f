import type { AskSpec, Reply } from '../model/agent.ts';
import { isDeeperThan, type Json, MAX_JSON_DEPTH, utf8Bytes } from '../model/json.ts';
import { cutText } from './cut-text.ts';
import type { Tool } from './tool.ts';

const APPROVED = 'approved';
// Together with the words between them they stay below the 4,000 characters of a prompt.
const MAX_DESCRIPTION_LENGTH = 500;
const MAX_INPUT_LENGTH = 3000;
/** What of 16 KiB a question's metadata leaves for the input of the tool. */
const MAX_INPUT_BYTES = 15 * 1024;

/**
 * Asks people whether a tool may run, and shows what it would do. Its `metadata.approval` has the tool's name and its
 * input, the latter null where it is over 15 KiB or too deep. What
 * is too long for the prompt is cut there, and the prompt says so.
 */
export function approvalOf(tool: Tool, input: Json): AskSpec {
  const text = JSON.stringify(input, null, 2);
  const shown = cutText(text, MAX_INPUT_LENGTH);
  const more = text.length - shown.length;
  const description = cutText(tool.description, MAX_DESCRIPTION_LENGTH);
  return {
    items: [
      {
        id: APPROVED,
        type: 'boolean',
        header: 'Approval',
        prompt: [
          `May ${tool.name} run?`,
          description,
          more === 0 ? shown : `${shown}… (${more} more characters are not shown)`,
        ].join('\n\n'),
      },
    ],
    metadata: { approval: { tool: tool.name, input: isTooMuch(input) ? null : input } },
  };
}

function isTooMuch(input: Json): boolean {
  // The metadata wraps it in two objects more.
  return utf8Bytes(JSON.stringify(input)) > MAX_INPUT_BYTES || isDeeperThan(input, MAX_JSON_DEPTH - 2);
}

/** Whether people have agreed: silence, a withdrawal and a refusal are no consent. */
export function isApproved(reply: Reply): boolean {
  return reply.status === 'answered' && reply.answers[APPROVED] === true;
}

/** What the model is told of a call that was not approved. */
export function refusalText(reply: Reply): string {
  return `${whyRefused(reply)} The call was not made.`;
}

function whyRefused(reply: Reply): string {
  switch (reply.status) {
    case 'answered':
      return 'The user did not allow this call.';
    case 'declined':
      return `The user declined to say whether this call may be made. ${reasonText(reply.reason)}`;
    case 'expired':
      return 'Nobody said in time whether this call may be made. That is no consent.';
    case 'withdrawn':
      return 'The question whether this call may be made was withdrawn before anybody answered it.';
  }
}

/** What somebody gave as the reason for declining, in a sentence. */
export function reasonText(reason: string | null): string {
  return reason === null ? 'They gave no reason.' : `Their reason: ${JSON.stringify(reason)}.`;
}
