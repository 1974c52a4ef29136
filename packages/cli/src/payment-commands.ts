import {
  CODE_FACTS,
  type CodeFacts,
  correctedPaise,
  PAYMENT_STATUSES,
  type Payment,
  payments,
} from '@svc/core/payments/payment'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { formatRupees } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import { type Command, InvalidArgumentError } from 'commander'
import { withInstallation } from './context.ts'
import { printRecord, printRows } from './print.ts'
import { readCount } from './read-count.ts'
import { readTenant } from './read-tenant.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

type Shown = Payment & CodeFacts

const OF_CODES =
  'payments p left join qr_codes q on q.merchant_id = p.merchant_id and q.qr_code_id = p.qr_code_id'
const FIND = statement<Shown>(
  'cli_payment',
  `select ${payments.columns}, ${CODE_FACTS} from ${OF_CODES} where p.payment_id = $1 or p.utr = $2`,
)
const LIST = statement<Shown>(
  'cli_payments',
  `select ${payments.columns}, ${CODE_FACTS} from ${OF_CODES}
   where p.merchant_id = $1 and ($2::text is null or p.status = $2)
   order by p.created_at desc, p.payment_id desc limit $3`,
)

const shown = (payment: Shown) => ({
  paymentId: payment.paymentId,
  merchantId: payment.merchantId,
  utr: payment.utr,
  amount: formatRupees(payment.amountPaise),
  adjustedAmount: payment.adjustedPaise === 0n ? null : formatRupees(correctedPaise(payment)),
  status: payment.status,
  reason: payment.reason,
  payerVpa: payment.payerVpa,
  qrCodeId: payment.qrCodeId,
  referenceNumber: payment.referenceNumber,
  createdAt: payment.createdAt,
  refundedAt: payment.refundedAt,
})

function readStatus(text: string): string {
  if (!PAYMENT_STATUSES.some((status) => status === text))
    throw new InvalidArgumentError(`It must be one of ${PAYMENT_STATUSES.join(', ')}.`)
  return text
}

interface ListOptions extends Json {
  readonly status?: string
  readonly limit: number
}

/** The group, for what else corrects payments. */
export function addPaymentCommands(program: Command): Command {
  const payment = program
    .command('payments')
    .description('list and show credits of the UPI rail, correct their amounts, record their return')
  payment
    .command('list <merchantId>')
    .description('list payments of a merchant, newest first; platform for credits that fit no merchant')
    .option('--status <status>', `only these: ${PAYMENT_STATUSES.join(', ')}`, readStatus)
    .option('--limit <count>', 'how many', readCount, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin payments list mer_… --status REFUND_PENDING')
    .action(async (merchantId: string, { status, limit, json = false }: ListOptions) => {
      const rows = await withInstallation(({ database }) =>
        database.operate((tx) => tx.query(LIST, [readTenant(merchantId), status, limit])),
      )
      printRows(rows.map(shown), json)
    })
  payment
    .command('show <paymentIdOrUtr>')
    .description('show a payment, by its id or by the bank’s reference')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin payments show AXISN0000000042')
    .action(async (id: string, { json = false }: Json) => {
      const [row] = await withInstallation(({ database }) =>
        database.operate((tx) => tx.query(FIND, [id, canonicalReference(id)])),
      )
      if (!row)
        throw new UsageError(
          `There is no payment ${id}. List them with: svc admin payments list <merchantId>`,
        )
      printRecord(shown(row), json)
    })
  return payment
}
