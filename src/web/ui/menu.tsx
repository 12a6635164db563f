import { useId, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';
import { IconButton } from './icon-button.tsx';

export interface MenuItem {
  label: string;
  icon: IconName;
  isDangerous?: boolean;
  onSelect(): void;
}

const GAP_PX = 4;

/** A button with three dots that opens a menu. Arrow keys go through it, Escape closes it. */
export function Menu({ name, items }: { name: string; items: readonly MenuItem[] }) {
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();

  function open({ currentTarget }: { currentTarget: HTMLElement }): void {
    const shown = menu.current;
    if (shown === null) return;
    if (isOpen) {
      shown.hidePopover();
      return;
    }
    shown.showPopover();
    const button = currentTarget.getBoundingClientRect();
    const fitsBelow = button.bottom + shown.offsetHeight + GAP_PX < innerHeight;
    shown.style.top = `${fitsBelow ? button.bottom + GAP_PX : button.top - shown.offsetHeight - GAP_PX}px`;
    shown.style.left = `${Math.max(GAP_PX, button.right - shown.offsetWidth)}px`;
    shown.querySelector('button')?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || menu.current === null) return;
    event.preventDefault();
    const buttons = [...menu.current.querySelectorAll('button')];
    const at = buttons.findIndex((button) => button.matches(':focus'));
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
  }

  return (
    <>
      <IconButton
        icon="more"
        name={name}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={open}
      />
      <div
        ref={menu}
        id={id}
        class="menu"
        role="menu"
        tabIndex={-1}
        aria-label={name}
        popover="auto"
        onToggle={({ newState }) => setOpen(newState === 'open')}
        onKeyDown={onKeyDown}
      >
        {items.map(({ label, icon, isDangerous, onSelect }) => (
          <button
            key={label}
            type="button"
            role="menuitem"
            class={isDangerous ? 'menu-item menu-danger' : 'menu-item'}
            onClick={() => {
              menu.current?.hidePopover();
              onSelect();
            }}
          >
            <Icon name={icon} />
            {label}
          </button>
        ))}
      </div>
    </>
  );
}
