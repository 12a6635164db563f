/** Lines on a grid of 16, drawn in the colour of the text around. */
const PATHS = {
  'arrow-down': 'M8 3v10M3.5 8.5 8 13l4.5-4.5',
  'arrow-left': 'M13 8H3M7.5 3.5 3 8l4.5 4.5',
  'arrow-up': 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
  bell: 'M4 11V7a4 4 0 0 1 8 0v4l1.2 1.5H2.8zM6.6 14.3a1.6 1.6 0 0 0 2.8 0',
  branch:
    'M4.5 5.5v5M4.5 8c5 0 7-.5 7-2.5M4.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  chat: 'M2.5 4.5a2 2 0 0 1 2-2h7a2 2 0 0 1 2 2v5a2 2 0 0 1-2 2H7l-3 2.5v-2.5a1.6 1.6 0 0 1-1.5-1.6z',
  check: 'M3 8.5 6.5 12 13 4.5',
  'chevron-right': 'M6 3.5 10.5 8 6 12.5',
  clock: 'M8 4.5V8l2.3 1.6M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.5 5.5h7v8h-7zM10.5 5.5v-3h-7v8h2',
  edit: 'M10.5 3.2 12.8 5.5 6 12.3l-3 .7.7-3z',
  external: 'M9.5 2.5h4v4M13.5 2.5 7.5 8.5M11.5 9.5v3.5h-9v-9H6',
  inbox: 'M2.5 9.5 4.3 3.5h7.4l1.8 6v3.5h-11zM2.5 9.5h3.2l.8 1.5h3l.8-1.5h3.2',
  moon: 'M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6z',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M4.5 3v10l8-5z',
  plus: 'M8 3v10M3 8h10',
  question: 'M6.2 6.2A1.9 1.9 0 1 1 8 8.6v.6M8 11.4h.01M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  retry: 'M13 8a5 5 0 1 1-1.5-3.6L13 6M13 2.8V6H9.8',
  stop: 'M4.5 4.5h7v7h-7z',
  step: 'M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM8 2v3.8M8 10.2V14',
  sun: 'M8 10.7a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4zM8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1',
  tasks: 'M7 4h6.5M7 8h6.5M7 12h6.5M2.5 4l.9.9L5 3.2M2.5 8l.9.9L5 7.2M2.5 12l.9.9L5 11.2',
  tool: 'M9.6 6.4a3 3 0 0 1 3.8-3.8l-2 2 .1 1 1 .1 2-2a3 3 0 0 1-3.9 3.9l-5.3 5.2a1.4 1.4 0 0 1-2-2z',
  trash: 'M2.8 4.2h10.4M6 4V2.5h4V4M4 4.2l.6 9.3h6.8l.6-9.3M6.8 6.8v4.2M9.2 6.8v4.2',
  warning: 'M8 2.8 14 13H2zM8 6.5v3M8 11.2h.01',
} as const;

export type IconName = keyof typeof PATHS;

/** An ornament beside words, or in a control that has a name. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
