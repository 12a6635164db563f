import { useComputed } from '@preact/signals';
import { useApp } from '../app-context.ts';
import type { Route } from '../route.ts';
import { Icon, type IconName } from '../ui/icon.tsx';

const SECTIONS: { label: string; href: string; icon: IconName; pages: Route['page'][] }[] = [
  { label: 'Conversations', href: '#/conversations', icon: 'chat', pages: ['conversations', 'start'] },
  { label: 'Inbox', href: '#/inbox', icon: 'inbox', pages: ['inbox'] },
  { label: 'Tasks', href: '#/tasks', icon: 'tasks', pages: ['tasks', 'task', 'new-task'] },
];

/** The three places of the console: beside it on wide screens, below it on narrow ones. */
export function Sections() {
  const { navigation, overview } = useApp();
  const count = useComputed(() => overview.state.value.questions.size).value;
  const { page } = navigation.route.value;
  return (
    <nav class="shell-sections" aria-label="Sections">
      <ul>
        {SECTIONS.map(({ label, href, icon, pages }) => {
          const hasBadge = label === 'Inbox' && count > 0;
          return (
            <li key={label}>
              <a
                class="section"
                href={href}
                aria-current={pages.includes(page) ? 'page' : undefined}
                aria-describedby={hasBadge ? 'inbox-count' : undefined}
              >
                <span class="section-icon">
                  <Icon name={icon} />
                </span>
                {label}
              </a>
              {hasBadge && (
                <span id="inbox-count" class="badge">
                  {count}
                  <span class="visually-hidden"> {count === 1 ? 'question is' : 'questions are'} pending</span>
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
