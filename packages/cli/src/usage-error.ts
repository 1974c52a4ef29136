/** A mistake of the person at the keyboard: reported in one line, exit code 1. */
export class UsageError extends Error {
  override name = 'UsageError'
}
