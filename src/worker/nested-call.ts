import { AsyncLocalStorage } from 'node:async_hooks';

/** Set while a step's function runs, and in everything that it starts. */
const currentStep = new AsyncLocalStorage<string>();

/** A method of the task was called inside the function of a step, where only the step's own handle works. */
class NestedCallError extends Error {
  override readonly name = 'NestedCallError';
  readonly code = 'nested_call';

  constructor(key: string) {
    super(`The task's methods cannot be called inside the step "${key}". Use the handle that its function is given.`);
  }
}

/** Runs the function of a step. */
export function runInStep<T>(key: string, body: () => T): T {
  return currentStep.run(key, body);
}

/** @throws NestedCallError inside the function of a step */
export function refuseInStep(): void {
  const key = currentStep.getStore();
  if (key !== undefined) throw new NestedCallError(key);
}
