import { fail } from '@svc/contract/errors'
import { pointerTo } from '@svc/contract/field-errors'
import { FileRejected, type FileSource } from '@svc/core/bank-files/file-source'
import { Type } from 'typebox'

/** Of operations whose body is a file of a bank. */
export const fileBody = {
  body: Type.Any({ description: 'The file, as the bank made it' }),
  acceptsAnyBody: true,
  bodyBytesMax: 16 * 2 ** 20,
  takesLong: true,
} as const

/** The body of a request as a file that can be read more than once. */
export const fileOf = (body: Buffer): FileSource => ({
  name: 'The file',
  async *bytes() {
    yield body
  },
})

/** Refuses a file: what is wrong with it is a sentence for people. */
export const failFile = (message: string): never =>
  fail('validation_failed', {
    description: message,
    errors: [{ in: 'body', pointer: pointerTo('file'), rule: 'format', message }],
  })

/** A file that is refused is a mistake of the caller: 400 with the reason, in words. */
export async function refusingFile<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FileRejected) return failFile(error.message)
    throw error
  }
}
