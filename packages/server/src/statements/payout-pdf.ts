import type { Readable } from 'node:stream'
import { stateWord } from '@svc/contract/state-words'
import { type Payout, type PayoutLine, taxOf } from '@svc/core/payments/payouts/payout'
import { TAKEN } from '@svc/core/payments/payouts/payout-line-kinds'
import { calendarDay, plainTimestamp } from '@svc/kernel/time'
import { type Heading, rupeesText, statementPdf } from './pdf.ts'

interface PayoutStatement {
  readonly payout: Payout
  readonly merchant: { readonly name: string; readonly vpa: string }
  /** Oldest first, at most `PDF_LINES_MAX` of them. */
  readonly lines: readonly PayoutLine[]
  readonly timeZone: string
  readonly now: Date
}

const KINDS: Readonly<Record<PayoutLine['kind'], string>> = {
  payment: 'Payment',
  refund: 'Refund',
  refund_failed: 'Refund failed',
  dispute: 'Dispute',
  dispute_won: 'Dispute won',
  opening_balance: 'Opening',
  adjustment_up: 'Correction',
  adjustment_down: 'Correction',
  advance_settled: 'Advance repaid',
  advance_reopened: 'Advance reopened',
  fees_settled: 'Fees paid',
  credit_note: 'Credit note',
  debit_note: 'Debit note',
  tds_certificate: 'Tax deducted',
}
const PAID_OUT = 'Paid out'
const sumsOf = (payout: Payout): (readonly [what: string, amount: bigint])[] =>
  [
    [`${payout.paymentCount} payments`, payout.paymentPaise] as const,
    ['Adjustments', payout.adjustmentPaise] as const,
    [`${payout.refundCount} refunds and disputes`, 0n - payout.refundPaise] as const,
    ['Fees', 0n - payout.feePaise] as const,
    ['Central GST on fees', 0n - payout.cgstPaise] as const,
    ['State GST on fees', 0n - payout.sgstPaise] as const,
    ['Integrated GST on fees', 0n - payout.igstPaise] as const,
    [PAID_OUT, payout.amountPaise] as const,
  ].filter(([what, amount]) => amount !== 0n || !(what.includes('GST') || what === 'Adjustments'))

/** The statement of one payout: how it adds up, and every payment, refund and dispute in it with fee and tax. */
export function payoutPdf({ payout, merchant, lines, timeZone, now }: PayoutStatement): Readable {
  const at = (instant: Date) => plainTimestamp(instant, timeZone)
  const count = payout.paymentCount + payout.adjustmentCount + payout.refundCount
  const heading: Heading = {
    title: 'Payout statement',
    name: merchant.name,
    facts: [
      ['Merchant', payout.merchantId],
      ['VPA', merchant.vpa],
      ['Payout', payout.payoutId],
      ['Business day', payout.businessDay],
      ['Status', stateWord(payout.status)],
      [
        'Bank account',
        `${payout.accountHolder}, ending in ${payout.accountNumber.slice(-4)}, ${payout.ifsc}`,
      ],
      ['Bank’s reference (UTR)', payout.utr ?? '–'],
      ['Prepared', at(payout.createdAt)],
      ['Completed', payout.completedAt ? at(payout.completedAt) : '–'],
      ...(payout.returnedAt ? [['Returned by the bank', at(payout.returnedAt)] as const] : []),
    ],
    foot: `${payout.payoutId}, made on ${calendarDay(now, timeZone)}; times in ${timeZone}`,
    createdAt: now,
  }
  return statementPdf(heading, async (pdf) => {
    await pdf.table(
      'How it adds up',
      [
        { title: 'What', share: 0.7, cell: ([what]) => what },
        { title: 'Amount', share: 0.3, align: 'right', cell: ([, amount]) => rupeesText(amount) },
      ],
      sumsOf(payout),
      ([what]) => what === PAID_OUT,
    )
    await pdf.table<PayoutLine>(
      'Payments, refunds and disputes',
      [
        { title: 'When', share: 0.195, cell: ({ occurredAt }) => at(occurredAt) },
        { title: 'What', share: 0.12, cell: ({ kind }) => KINDS[kind] },
        { title: 'Id', share: 0.31, cell: ({ objectId }) => objectId },
        {
          title: 'Amount',
          share: 0.135,
          align: 'right',
          cell: ({ amountPaise, kind }) => rupeesText(TAKEN.has(kind) ? 0n - amountPaise : amountPaise),
        },
        { title: 'Fee', share: 0.12, align: 'right', cell: ({ feePaise }) => rupeesText(feePaise) },
        { title: 'GST', share: 0.12, align: 'right', cell: (line) => rupeesText(taxOf(line)) },
      ],
      lines,
    )
    if (lines.length < count)
      pdf.note(`The first ${lines.length} of them are listed here; the list of the payout’s lines has all.`)
  })
}
