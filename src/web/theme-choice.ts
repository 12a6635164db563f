import { onDevice } from './kept-text.ts';

export type Theme = 'light' | 'dark';

export const THEME_KEY = 'holdfast.theme';

export function isDarkQuery(): MediaQueryList {
  return matchMedia('(prefers-color-scheme: dark)');
}

/** What somebody has chosen on this device, else what the device prefers. */
export function chosenTheme(): Theme {
  const kept = onDevice.get(THEME_KEY);
  if (kept === 'light' || kept === 'dark') return kept;
  return isDarkQuery().matches ? 'dark' : 'light';
}

export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}
