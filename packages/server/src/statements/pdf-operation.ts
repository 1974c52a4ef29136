import type { Readable } from 'node:stream'
import { type Static, type TSchema, Type } from 'typebox'
import { type Access, type Input, type Operation, type Services, streamingQuery } from '../http/operation.ts'
import { StreamSlots } from '../http/stream-slots.ts'

const PDF = 'application/pdf'
/** Statements that one caller may have made at a time. */
const PDFS_MAX = 2

/** How a document is offered: by whom, and where. */
export type DocumentFace<P extends TSchema, Q extends TSchema> = Access &
  Pick<Operation, 'envelope' | 'errors' | 'id' | 'path' | 'summary' | 'tag'> &
  Partial<Pick<Operation, 'description' | 'headers' | 'permission'>> & {
    readonly params: P
    readonly query?: Q
  }

/** What a document is about, for who calls. */
export type FindDocument<P extends TSchema, Q extends TSchema, F> = (
  services: Services,
  input: Input<Static<P>, Static<Q>, unknown>,
) => Promise<F>

/** A document as PDF. What writes it is imported when one is requested: the fonts' library is large. */
export const pdfOperation = <P extends TSchema, Q extends TSchema, F>(
  face: DocumentFace<P, Q>,
  find: FindDocument<P, Q, F>,
  writer: () => Promise<(found: F) => Readable>,
): Operation<Services> =>
  streamingQuery({
    ...face,
    method: 'GET',
    result: Type.String({ format: 'binary', description: 'A4, fonts embedded' }),
    produces: PDF,
    errors: [...face.errors, 'too_many_streams'],
    mount(services) {
      const slots = new StreamSlots(PDFS_MAX)
      return async (input) => {
        const found = await find(services, input as never)
        const write = await writer()
        const { caller } = input
        const holder = face.auth === 'operator' ? caller.actor!.actorId : caller.tenantId
        return {
          headers: { 'content-type': PDF },
          body: slots.stream(holder, caller, () => write(found)),
        }
      }
    },
  } as Parameters<typeof streamingQuery>[0]) as Operation<Services>
