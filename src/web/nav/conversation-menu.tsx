import { useState } from 'preact/hooks';
import type { Conversation } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { Menu } from '../ui/menu.tsx';
import { Modal } from '../ui/modal.tsx';
import { failureWords } from '../words/failure.ts';
import { RenameForm } from './rename-form.tsx';
import { titleWords } from './title-words.ts';

/** What can be done to a conversation. */
export function ConversationMenu({ conversation }: { conversation: Conversation }) {
  const { client, navigation, tell, mayWrite } = useApp();
  const [asking, setAsking] = useState<'rename' | 'delete' | null>(null);
  const title = titleWords(conversation);
  const close = () => setAsking(null);

  async function rename(to: string): Promise<void> {
    close();
    await client.conversations
      .update(conversation.id, { title: to === '' ? null : to })
      .catch((error) => tell(`It was not renamed. ${failureWords(error)}`));
  }

  async function remove(): Promise<void> {
    close();
    try {
      await client.conversations.delete(conversation.id);
      const route = navigation.route.value;
      if (route.page === 'conversation' && route.id === conversation.id) navigation.replace({ page: 'conversations' });
    } catch (error) {
      tell(`It was not deleted. ${failureWords(error)}`);
    }
  }

  if (!mayWrite) return null;
  return (
    <>
      <Menu
        name={`Actions for ${title}`}
        items={[
          { label: 'Rename', icon: 'edit', onSelect: () => setAsking('rename') },
          { label: 'Delete', icon: 'trash', isDangerous: true, onSelect: () => setAsking('delete') },
        ]}
      />
      {asking === 'rename' && (
        <Modal title="Rename conversation" onClose={close}>
          <RenameForm title={conversation.title ?? ''} onRename={rename} onCancel={close} />
        </Modal>
      )}
      {asking === 'delete' && (
        <Modal title="Delete conversation?" onClose={close}>
          <p>
            <bdi>“{title}”</bdi> goes with its messages, tasks and questions. What is unfinished in it is stopped. This
            cannot be taken back.
          </p>
          <div class="modal-actions">
            <button type="button" class="button" onClick={close}>
              Cancel
            </button>
            <button type="button" class="button button-danger" onClick={remove}>
              Delete
            </button>
          </div>
        </Modal>
      )}
    </>
  );
}
