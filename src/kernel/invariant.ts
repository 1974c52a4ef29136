/** Our own mistake, never the caller's: the process may go on, the command that met it does not. */
export class InvariantError extends Error {
  override name = 'InvariantError'
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}
