import { Failure, fail } from '@svc/contract/errors'
import { acceptBulkJob } from '@svc/core/cards/bulk/accept-bulk-job'
import { type BulkOutcome, type DueJob, openLine } from '@svc/core/cards/bulk/bulk-job'
import { findLoadOf } from '@svc/core/cards/card/card-load'
import { loadCard } from '@svc/core/cards/card/load-card'
import { carriedOut } from '@svc/core/ledger/money-command'
import type { Paise } from '@svc/kernel/money'
import { type Static, Type } from 'typebox'
import { parseJson } from '../http/bodies.ts'
import { readRupees } from '../http/fields.ts'
import { operation, type Services } from '../http/operation.ts'
import { bodyCheck } from '../http/validator.ts'
import {
  BULK_ACCEPTED,
  BULK_BODY_BYTES_MAX,
  type BulkWork,
  bulkAccepted,
  type LeasedLine,
  splitLines,
} from './bulk-lines.ts'
import { LOAD_BODY } from './card-loads.ts'
import { ofCards } from './get-card.ts'

/** One line of an upload of loads. */
export const BulkLoadLine = Type.Object(
  {
    svcCardId: Type.String({ minLength: 1, maxLength: 64, description: 'The card to load' }),
    ...LOAD_BODY.properties,
  },
  { title: 'BulkLoadLine', additionalProperties: false },
)
export type BulkLoadLine = Static<typeof BulkLoadLine>

const LINE_BYTES_MAX = 4_096

/** Not in the specification (decision C26). */
export const bulkLoadOperation = operation({
  ...ofCards('cards:write'),
  id: 'bulkLoadCards',
  method: 'POST',
  path: '/api/v0/partner/svcCard/bulk/loads',
  summary: 'Load cards in bulk',
  description:
    'Each line is one load, as `POST …/svcCard/{svcCardId}/loads` accepts it, with the card. The loads are stored, then carried out in the background, after single requests; a crash loses none and repeats none. A line whose `referenceNumber` was used before for the same load gets the result of that load; one that was used for another load fails with `load_reference_in_use`. Each line is within the limits by itself, and no line is held up by one that fails. Use the `jobId` to get the progress and the results.',
  accepts: ['application/x-ndjson'],
  bodyBytesMax: BULK_BODY_BYTES_MAX,
  body: Type.Unsafe<Buffer>({
    description: `A JSON object on each line, with \`svcCardId\`, \`amount\` in rupees, \`referenceNumber\` and, if you like, \`reason\`; at most 16 MiB, and ${LINE_BYTES_MAX} bytes for each line. Empty lines are passed over.`,
  }),
  result: BULK_ACCEPTED,
  errors: [],
  run: acceptBulkJob,
  args: ({ caller, rawBody }, { config }) => ({
    partnerId: caller.tenantId,
    kind: 'load' as const,
    lines: splitLines(rawBody, config.BULK_ROWS_MAX, {
      bytes: LINE_BYTES_MAX,
      text: `${LINE_BYTES_MAX} bytes`,
    }),
  }),
  reply: bulkAccepted,
})

/** How loads of a job are carried out: as single ones. That each is done once rests on its reference. */
export function bulkLoads({ commands, config, database, keyring }: Services): BulkWork {
  const check = bodyCheck(BulkLoadLine, config.UNKNOWN_FIELDS)
  const load = commands.open(loadCard)

  /** Of a partner that is closing by now: a load that was made before the process died is reported as such. */
  async function loadedBefore(
    { partnerId }: DueJob,
    line: BulkLoadLine,
    amountPaise: Paise,
  ): Promise<string> {
    const before = await database.read([partnerId], (tx) =>
      findLoadOf(tx, { ...line, partnerId, amountPaise }),
    )
    return before ?? fail('tenant_closing')
  }

  return {
    command: load,
    async carryOut(job: DueJob, row: LeasedLine, submitting): Promise<BulkOutcome> {
      const { partnerId, jobId, isClosing } = job
      const { line } = row
      try {
        const body = parseJson(openLine(keyring, jobId, row))
        const invalid = check(body)
        if (invalid) fail('validation_failed', invalid)
        const request = body as BulkLoadLine
        const { svcCardId, referenceNumber, reason } = request
        const amountPaise = readRupees('amount', request.amount)
        if (isClosing) {
          const loadId = await loadedBefore(job, request, amountPaise)
          return { line, status: 'LOADED', svcCardId, loadId }
        }
        submitting()
        const outcome = await load.run({ partnerId, svcCardId, amountPaise, referenceNumber, reason })
        return { line, status: 'LOADED', svcCardId, loadId: carriedOut(outcome).load.loadId }
      } catch (error) {
        if (!(error instanceof Failure) || error.status >= 500) throw error
        return { line, status: 'FAILED', error: error.code, errorDescription: error.description }
      }
    },
  }
}
