import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface RenameFormProps {
  title: string;
  onRename(title: string): void;
  onCancel(): void;
}

export function RenameForm({ title, onRename, onCancel }: RenameFormProps) {
  const [text, setText] = useState(title);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  useLayoutEffect(() => input.current?.select(), []);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onRename(text.trim());
      }}
    >
      <label for={id} class="label">
        Title
      </label>
      <input
        ref={input}
        id={id}
        class="input"
        type="text"
        maxLength={255}
        dir="auto"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div class="modal-actions">
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="button button-primary">
          Rename
        </button>
      </div>
    </form>
  );
}
