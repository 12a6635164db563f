import { useEffect, useState } from 'preact/hooks';
import { useApp } from '../app-context.ts';
import { copyText } from './copy-text.ts';
import { IconButton } from './icon-button.tsx';

const SHOWN_MS = 1500;

/** Copies what `text` gives when it is pressed. */
export function CopyButton({ text, name }: { text: () => string; name: string }) {
  const { announce } = useApp();
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isDone]);

  async function copy(): Promise<void> {
    await copyText(text());
    setDone(true);
    announce('Copied.');
  }

  return <IconButton icon={isDone ? 'check' : 'copy'} name={name} class="copy-button" onClick={copy} />;
}
