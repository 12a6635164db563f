import { useRef, useState } from 'preact/hooks';
import type { Answers, Draft, Json, Question } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { Sending } from '../ui/sending.tsx';
import { AskedPrompts } from './asked-prompts.tsx';
import { DeclineForm } from './decline-form.tsx';
import { type Faults, type FormValues, initialValues, toAnswers } from './form-values.ts';
import { ItemField } from './item-field.tsx';

interface QuestionFormProps {
  question: Question;
  /** What was kept of this form. */
  draft: Draft | undefined;
  onDraft(values: FormValues): void;
  onAnswer(answers: Answers): void;
  onDecline(reason: string | null): void;
}

/** A pending question, to be answered. It takes no focus by itself, and sends nothing that nobody has pressed. */
export function QuestionForm({ question, draft, onDraft, onAnswer, onDecline }: QuestionFormProps) {
  const { mayAnswer } = useApp();
  const form = useRef<HTMLFormElement>(null);
  const [values, setValues] = useState(() => initialValues(question.items, draft?.values ?? {}));
  const [faults, setFaults] = useState<Faults>({});
  const [isDeclining, setDeclining] = useState(false);
  const isSending = draft?.status === 'submitting';
  const refusal = draft?.status === 'refused' ? draft.error : null;

  function change(itemId: string, value: Json): void {
    const next = { ...values, [itemId]: value };
    setValues(next);
    setFaults(({ [itemId]: _, ...others }) => others);
    onDraft(next);
  }

  function submit(event: Event): void {
    event.preventDefault();
    if (isSending) return;
    const { answers, faults: found } = toAnswers(question.items, values);
    setFaults(found);
    const [first] = Object.keys(found);
    if (first === undefined) {
      keepFocus();
      onAnswer(answers);
    } else form.current?.querySelector<HTMLElement>(`[data-item="${first}"] :is(input, textarea)`)?.focus();
  }

  function decline(reason: string | null): void {
    keepFocus();
    setDeclining(false);
    onDecline(reason);
  }

  /** What is about to be disabled would lose it, and who uses the keyboard their place. */
  function keepFocus(): void {
    if (form.current?.contains(document.activeElement)) form.current.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.isComposing) submit(event);
  }

  if (!mayAnswer) {
    return (
      <div class="question-form">
        <AskedPrompts question={question} />
        <p class="fine">
          Your token may not answer: that takes the scope <code>questions:answer</code>.
        </p>
      </div>
    );
  }
  return (
    <form ref={form} class="question-form" tabIndex={-1} noValidate onSubmit={submit} onKeyDown={onKeyDown}>
      <div class="question-items">
        {question.items.map((item) => (
          <ItemField
            key={item.id}
            item={item}
            value={values[item.id]}
            fault={
              (Object.hasOwn(faults, item.id) ? faults[item.id] : undefined) ??
              refusal?.errors.find(({ path }) => path === `/answers/${item.id}`)?.message ??
              null
            }
            isDisabled={isSending}
            onChange={(value) => change(item.id, value)}
          />
        ))}
        {refusal !== null && refusal.errors.length === 0 && <p class="fault">{refusal.message}</p>}
      </div>
      {isDeclining && !isSending ? (
        <DeclineForm onDecline={decline} onBack={() => setDeclining(false)} />
      ) : (
        <div class="question-actions">
          <button type="submit" class="button button-primary" disabled={isSending}>
            Answer
          </button>
          <button type="button" class="button" disabled={isSending} onClick={() => setDeclining(true)}>
            Decline
          </button>
          <span class="question-hint">
            {isSending ? (
              <Sending />
            ) : (
              <span class="wide-only">
                <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends
              </span>
            )}
          </span>
        </div>
      )}
    </form>
  );
}
