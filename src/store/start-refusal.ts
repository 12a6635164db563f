/** Why a store does not open, in one line for the operator: what is wrong with it, and what to do. */
export class StartRefusal extends Error {
  override readonly name = 'StartRefusal';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}
