import { inTab } from '../kept-text.ts';

const keyOf = (conversationId: string) => `holdfast.composer.${conversationId}`;

/** What somebody has begun to write, in this tab, conversation by conversation. */
export function readComposerDraft(conversationId: string): string {
  return inTab.get(keyOf(conversationId)) ?? '';
}

export function keepComposerDraft(conversationId: string, text: string): void {
  inTab.set(keyOf(conversationId), text === '' ? null : text);
}
