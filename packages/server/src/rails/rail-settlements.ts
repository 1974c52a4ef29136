import { createHash } from 'node:crypto'
import { Failure } from '@svc/contract/errors'
import { KINDS_OF_RAIL } from '@svc/core/bank-files/file-format'
import { BatchRecord, batchToWire, type SettlementRail } from '@svc/core/payments/settlements/batch'
import { countBatch } from '@svc/core/payments/settlements/import-settlement'
import { keepTransfer } from '@svc/core/payments/settlements/keep-transfer'
import { type RecordedBatch, recordBatch } from '@svc/core/payments/settlements/record-batch'
import { LINES_A_CALL, readSettlementNotice } from '@svc/core/payments/settlements/settlement-notice'
import type { StatedField, UnreadableNotice } from '@svc/core/rails/quarantine-reason'
import { NoticeReceipt } from '@svc/core/rails/rail-notice'
import { calendarDay } from '@svc/kernel/time'
import { Type } from 'typebox'
import { query, type Services, succeed } from '../http/operation.ts'
import { noticeReply, SIGNATURE } from './authenticate-rail.ts'

const rupees = (description: string) =>
  Type.Unsafe<string | number>({ type: ['string', 'number'], description: `Rupees; ${description}` })

const bodyOf = (rail: SettlementRail) =>
  Type.Object(
    {
      batchUtr: Type.String({ description: 'The reference of the whole transfer on the bank statement' }),
      valueDate: Type.String({ description: 'Day of the transfer, at most tomorrow' }),
      netAmount: Type.Optional(
        rupees('what arrives, or below zero leaves. Absent: what the lines add up to'),
      ),
      lines: Type.Array(
        Type.Object({
          kind: Type.String({ description: `One of ${Object.keys(KINDS_OF_RAIL[rail]).join(', ')}` }),
          reference: Type.Optional(
            Type.String({
              description:
                rail === 'upi'
                  ? 'UTR of the credit, UTR or id of the refund, or reference of the case; none for a charge'
                  : 'Our `messageId` or the RRN; none for a charge',
            }),
          ),
          amount: rupees('above zero it is money to us'),
          date: Type.Optional(Type.String({ description: 'Day of what the line is of' })),
          note: Type.Optional(Type.String()),
        }),
        { description: `1 to ${LINES_A_CALL} lines; a larger transfer comes in several calls` },
      ),
    },
    { description: 'Other fields are ignored' },
  )

interface Plan {
  readonly id: string
  readonly rail: SettlementRail
  readonly path: string
  readonly tag: string
  readonly summary: string
}

/** Signed transfers of one rail (decision R25). */
const settlementOperation = ({ rail, ...plan }: Plan) =>
  query({
    ...plan,
    method: 'POST',
    description:
      'Sent signed, once or in several calls of one `batchUtr`. The bank account moves by the net amount; what a line fits is settled, charges are booked, and what fits nothing waits until its notice comes. A line is known by its transfer, kind and reference: a repeat changes nothing. A message that cannot be read, or states another net amount or value date than before, goes to quarantine: 202.',
    auth: rail === 'upi' ? 'rail' : 'cardRail',
    envelope: 'response_code',
    headers: SIGNATURE,
    body: bodyOf(rail),
    acceptsAnyBody: true,
    bodyBytesMax: 2 ** 20,
    result: BatchRecord,
    accepted: NoticeReceipt,
    errors: [],
    mount: (services) => async (input) => received(services, rail, input.rawBody),
  })

async function received(services: Services, rail: SettlementRail, notice: Buffer) {
  const { clock, commands, config, database } = services
  const keep = async (why: UnreadableNotice) => (await commands.open(keepTransfer).run({ notice, why })).kept
  const zone = config.BUSINESS_TIME_ZONE
  // Days are held against the furthest clock of the installation (decision X27).
  const furthest = Math.max(
    ...clock.timelines().map((timeline) => timeline.clock.offsetMs()),
    clock.offsetMs(),
  )
  const today = calendarDay(new Date(clock.now() + furthest - clock.offsetMs()), zone)
  const read = readSettlementNotice(notice, { rail, zone, today })
  if ('unreadable' in read) return noticeReply(await keep(read))
  const fileId = `stf_${createHash('sha256').update(notice).digest('hex').slice(0, 26)}`
  const { batchUtr: utr } = read.transfer
  let recorded: RecordedBatch
  try {
    recorded = await commands.open(recordBatch).run({ ...read.transfer, fileId, isLast: true })
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'settlement_batch_differs')) throw error
    const of = { ...(error.cause as StatedField), detail: error.message, utr }
    return noticeReply(await keep({ unreadable: 'contradicts_earlier_notice', ...of }))
  }
  const { batch, conflicting } = recorded
  if (conflicting.length > 0) {
    const detail = `${conflicting.length} lines were recorded before with another amount: ${conflicting
      .slice(0, 3)
      .map(({ kind, reference }) => `${kind} ${reference ?? ''}`.trim())
      .join(', ')}`
    await keep({ unreadable: 'contradicts_earlier_notice', field: 'lines', detail, utr })
  }
  return { body: succeed(batchToWire(batch, await countBatch(database, batch.batchId))) }
}

export const receiveSettlement = settlementOperation({
  id: 'receiveSettlement',
  rail: 'upi',
  path: '/rails/upi/settlements',
  tag: 'UPI rail',
  summary: 'Notify a transfer of the bank with its lines',
})
export const receiveNetworkSettlement = settlementOperation({
  id: 'receiveNetworkSettlement',
  rail: 'card',
  path: '/rails/cards/settlements',
  tag: 'Card rail',
  summary: 'Notify a transfer of the card network with its lines',
})
