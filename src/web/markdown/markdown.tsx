import { useRef } from 'preact/hooks';
import { memo } from '../ui/memo.tsx';
import { Block } from './block.tsx';
import { type Blocks, toBlocks } from './blocks.ts';

/**
 * Text of an agent, as Markdown.
 *
 * @param isComplete false while it is being written: then only its end is taken apart anew
 */
export const Markdown = memo(({ text, isComplete }: { text: string; isComplete: boolean }) => {
  const before = useRef<Blocks | null>(null);
  before.current = toBlocks(text, isComplete ? null : before.current);
  const { tokens, starts } = before.current;
  return (
    <div class="prose">
      {tokens.map((token, index) => (
        <Block key={starts[index]} token={token} isComplete={isComplete} />
      ))}
    </div>
  );
});
