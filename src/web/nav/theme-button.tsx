import type { ThemeSwitch } from '../theme.ts';
import { IconButton } from '../ui/icon-button.tsx';

export function ThemeButton({ themeSwitch: { theme, toggle } }: { themeSwitch: ThemeSwitch }) {
  const isDark = theme.value === 'dark';
  return (
    <IconButton
      icon={isDark ? 'sun' : 'moon'}
      name={isDark ? 'Switch to light theme' : 'Switch to dark theme'}
      onClick={toggle}
    />
  );
}
