import type { ButtonHTMLAttributes } from 'preact';
import { Icon, type IconName } from './icon.tsx';

type IconButtonProps = Omit<ButtonHTMLAttributes, 'icon' | 'name' | 'type'> & { icon: IconName; name: string };

/** A button without words; its name is its tooltip too. */
export function IconButton({ icon, name, class: extra, ...rest }: IconButtonProps) {
  return (
    <button type="button" class={`icon-button ${extra ?? ''}`} aria-label={name} title={name} {...rest}>
      <Icon name={icon} />
    </button>
  );
}
