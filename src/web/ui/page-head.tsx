import type { ComponentChildren } from 'preact';
import { hrefOf, type Route } from '../route.ts';
import { Icon } from './icon.tsx';

interface PageHeadProps {
  title: string;
  /** Where the arrow leads that phones show. */
  back?: 'conversations' | 'tasks';
  children?: ComponentChildren;
}

const BACK: { [to in 'conversations' | 'tasks']: { route: Route; name: string } } = {
  conversations: { route: { page: 'conversations' }, name: 'Back to conversations' },
  tasks: {
    route: { page: 'tasks', filter: { status: null, agent: null, conversationId: null } },
    name: 'Back to tasks',
  },
};

/** The title of a page, with what can be done there at its end. */
export function PageHead({ title, back, children }: PageHeadProps) {
  return (
    <header class="page-head">
      {back !== undefined && (
        <a class={`icon-button back-${back}`} href={hrefOf(BACK[back].route)} aria-label={BACK[back].name}>
          <Icon name="arrow-left" />
        </a>
      )}
      <h1 dir="auto" title={title}>
        {title}
      </h1>
      <div class="page-actions">{children}</div>
    </header>
  );
}
