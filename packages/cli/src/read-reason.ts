import { InvalidArgumentError } from 'commander'

const REASON_CHARS_MAX = 255

/** Why an operator does something, as the console takes it: it must say something to a reader. */
export function readReason(text: string): string {
  if (text.length > REASON_CHARS_MAX || !/[\p{L}\p{N}]/u.test(text))
    throw new InvalidArgumentError(
      `It must have 1 to ${REASON_CHARS_MAX} characters, with a letter or a digit among them.`,
    )
  return text
}
