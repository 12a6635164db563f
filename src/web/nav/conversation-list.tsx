import { useComputed } from '@preact/signals';
import { useApp } from '../app-context.ts';
import { byActivity, conversationStandings, IDLE } from '../overview/overview-state.ts';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { ConversationRow } from './conversation-row.tsx';

/** All conversations, those that somebody wrote in last at the top. */
export function ConversationList({ heading: Heading }: { heading: 'h1' | 'h2' }) {
  const { overview, navigation, mayWrite } = useApp();
  const conversations = useComputed(() => byActivity(overview.state.value.conversations)).value;
  const standings = useComputed(() => conversationStandings(overview.state.value)).value;
  const route = navigation.route.value;
  return (
    <nav class="shell-list" aria-label="Conversations">
      <div class="list-head">
        <Heading>{Heading === 'h1' ? 'Conversations' : 'Recent'}</Heading>
        {mayWrite && (
          <a class="new-conversation" href="#/conversations/new" title="New conversation">
            <Icon name="plus" />
            <span>New conversation</span>
          </a>
        )}
      </div>
      {!overview.isReady.value && <Loading what="conversations" />}
      {overview.isReady.value && conversations.length === 0 && (
        <p class="list-empty">None yet. Whatever you begin stays here, on every device.</p>
      )}
      <ul>
        {conversations.map((conversation) => (
          <ConversationRow
            key={conversation.id}
            conversation={conversation}
            {...(standings.get(conversation.id) ?? IDLE)}
            isCurrent={route.page === 'conversation' && route.id === conversation.id}
          />
        ))}
      </ul>
      {overview.hasMoreConversations.value && (
        <button type="button" class="button list-more" onClick={() => void overview.loadMoreConversations()}>
          Show older conversations
        </button>
      )}
    </nav>
  );
}
