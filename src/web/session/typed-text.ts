import { inTab, type KeptText, onDevice } from '../kept-text.ts';

const OWNER = 'holdfast.owner';
/** What people have begun to write: answers, and messages. */
const PREFIXES: [KeptText, string][] = [
  [onDevice, 'holdfast draft'],
  [inTab, 'holdfast.composer.'],
];

/** Keeps what was typed for who typed it: whoever else comes does not find it. */
export function keepTypedFor(owner: string): void {
  for (const [place, prefix] of PREFIXES) {
    const before = place.get(OWNER);
    if (before !== null && before !== owner) place.forget(prefix);
    place.set(OWNER, owner);
  }
}

/** Of this tab; what is kept for all of them is taken away by the tab in which somebody signs out. */
export function forgetTypedInTab(): void {
  inTab.forget('holdfast.composer.');
}

export function forgetTyped(): void {
  for (const [place, prefix] of PREFIXES) place.forget(prefix);
}
