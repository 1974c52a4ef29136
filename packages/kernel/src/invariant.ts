/** Our own mistake, never the caller's: the process may go on, the command that met it does not. */
export class InvariantError extends Error {
  override name = 'InvariantError'
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** The value of what must be there: its absence is our own mistake. */
export function required<T>(value: T | undefined, message: string): T {
  invariant(value !== undefined, message)
  return value
}
