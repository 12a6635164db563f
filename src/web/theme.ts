import { type ReadonlySignal, signal } from '@preact/signals';
import { onDevice } from './kept-text.ts';
import { chosenTheme, isDarkQuery, showTheme, THEME_KEY, type Theme } from './theme-choice.ts';

export interface ThemeSwitch {
  readonly theme: ReadonlySignal<Theme>;
  toggle(): void;
}

/** Follows the device until somebody chooses otherwise; choosing what the device has follows it again. */
export function createThemeSwitch(): ThemeSwitch {
  const device = isDarkQuery();
  const theme = signal(chosenTheme());
  const follow = () => {
    theme.value = chosenTheme();
    showTheme(theme.value);
  };
  device.addEventListener('change', follow);
  // Another tab has chosen.
  window.addEventListener('storage', ({ key }) => key === THEME_KEY && follow());
  return {
    theme,
    toggle() {
      const other = theme.value === 'dark' ? 'light' : 'dark';
      onDevice.set(THEME_KEY, device.matches === (other === 'dark') ? null : other);
      follow();
    },
  };
}
