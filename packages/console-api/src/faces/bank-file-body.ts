import { fail } from '@svc/contract/errors'
import { pointerTo } from '@svc/contract/field-errors'
import { FileRejected, type FileSource } from '@svc/core/bank-files/file-source'
import { keepFile, type RecordedFile } from '@svc/core/bank-files/kept-files'
import type { Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'

/** Of operations whose body is a file of a bank. */
export const fileBody = {
  body: Type.Any({ description: 'The file, as the bank made it' }),
  acceptsAnyBody: true,
  bodyBytesMax: 16 * 2 ** 20,
  takesLong: true,
} as const

/** Of operations that record the file: it is kept with what became of it. */
export const namedFile = {
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'How the file was called; it is kept under this name, or one of its kind',
    }),
  ),
}

type Outcome = Pick<RecordedFile, 'kind' | 'lines' | 'unfitting' | 'amountPaise'>
interface Recording extends Pick<Parameters<typeof asOperator>[1], 'caller' | 'requestId'> {
  readonly query: { readonly name?: string | undefined }
  readonly rawBody: Buffer
}

/** Keeps the body of a request with what became of it; the same file again changes nothing. */
export const keepBody = (services: Services, input: Recording, outcome: Outcome): Promise<void> =>
  asOperator(services, input, (tx) =>
    keepFile(tx, {
      ...outcome,
      name: input.query.name ?? outcome.kind,
      content: input.rawBody,
      by: actorOf(input.caller),
      at: new Date(services.clock.now()),
    }),
  )

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
