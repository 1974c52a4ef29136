import { Failure, fail } from '@svc/contract/errors'
import { idFloor, newId } from '@svc/contract/id-kinds'
import { sendRefund } from '@svc/core/payments/refunds/send-refund'
import { invariant } from '@svc/kernel/invariant'
import { type Paise, paiseToWire } from '@svc/kernel/money'
import { databaseTime } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import { SIGNATURE_HEADER, signNotice } from '../http/notice-signature.ts'
import type { Services } from '../http/operation.ts'
import { railKeys } from '../rails/authenticate-rail.ts'
import { refundFails, refundIsLeft } from './magic.ts'

/** What a bank reports of one credit. */
export interface Notice {
  readonly utr: string
  readonly tr: string
  /** Rupees. */
  readonly amount: number
  readonly payerVpa: string
  readonly payeeVpa?: string
}

export const newNotice = (
  utr: string,
  { tr, pa }: { readonly tr: string; readonly pa: string },
  amount: Paise,
  payerVpa: string,
): Notice => ({
  utr,
  tr,
  amount: paiseToWire(amount),
  payerVpa,
  payeeVpa: pa,
})

const HOLD = statement(
  'sandbox_notices_hold',
  `insert into sandbox_upi_notices (notice_id, due_at, notice)
   select $1 || n, clock_timestamp() + $2 * interval '1 millisecond', $3::jsonb from generate_series(1, $4::integer) n`,
)
// Taken with a lease: a process that dies while it delivers leaves the notice to another, and notices may come twice.
const TAKE = statement<{ notice_id: string; notice: Notice }>(
  'sandbox_notices_take',
  `update sandbox_upi_notices set due_at = clock_timestamp() + interval '30 seconds'
   where notice_id = any (array(select notice_id from sandbox_upi_notices where due_at <= clock_timestamp()
     order by due_at limit 50 for update skip locked))
   returning notice_id, notice`,
)
const DELIVERED = statement(
  'sandbox_notices_delivered',
  'delete from sandbox_upi_notices where notice_id = $1',
)
const TO_REFUND = statement<{ utr: string }>(
  'sandbox_refunds_pending',
  'select utr from directory_refunds_pending($1, 100)',
)

const REFUNDS_OPEN = statement<{ refund_id: string; merchant_id: string; amount_paise: bigint }>(
  'sandbox_merchant_refunds_open',
  'select * from directory_merchant_refunds_open($1, 1000)',
)

const EVERY_MS = 250
/** The bank takes this long to return money. */
const RETURNED_AFTER_MS = 2_000

/**
 * The sandbox's UPI rail: carries payments to `/rails/upi/credits` as signed notices, the way a bank does, holds some
 * back, and returns refused credits to their payers. What it holds back is in the database and survives a crash.
 */
export class UpiSwitch {
  readonly #services: Services

  constructor(services: Services) {
    this.#services = services
  }

  /** Carries a notice now; a credit that the service cannot take is returned at once. Returns the payment record. */
  async deliver(notice: Notice): Promise<Record<string, unknown>> {
    const payment = await this.#send('/rails/upi/credits', notice)
    return payment['status'] === 'REFUND_PENDING'
      ? this.#send('/rails/upi/refunds', { utr: notice.utr })
      : payment
  }

  /** Keeps a notice for later, `count` times the same. */
  async hold(notice: Notice, delayMs: number, count: number): Promise<void> {
    const { clock, database, random } = this.#services
    await database.directory(HOLD, [
      `${newId('ntc', clock.now(), random)}_`,
      delayMs,
      JSON.stringify(notice),
      count,
    ])
  }

  /** Delivers notices that are due, and returns refunds that are pending. */
  loop(): Loop {
    const work = () => this.#deliverDue()
    return new Loop({ name: 'sandbox_upi_switch', everyMs: EVERY_MS, work }, this.#services)
  }

  async #deliverDue(): Promise<void> {
    const { clock, database } = this.#services
    const now = await databaseTime(database, clock)
    const waited = (prefix: 'pay' | 'rfd') => idFloor(prefix, new Date(now.getTime() - RETURNED_AFTER_MS))
    for (const { notice_id, notice } of await database.directory(TAKE)) {
      await this.deliver(notice).catch((error: unknown) => {
        // One that contradicts a previous credit is refused for good.
        if (!(error instanceof Failure)) throw error
      })
      await database.directory(DELIVERED, [notice_id])
    }
    // Refunds that a crash left between the credit and its return.
    for (const { utr } of await database.directory(TO_REFUND, [waited('pay')]))
      await this.#send('/rails/upi/refunds', { utr })
    for (const refund of await database.directory(REFUNDS_OPEN, [waited('rfd')]))
      if (!refundIsLeft(refund.amount_paise)) await this.#refund(refund)
  }

  /** Makes a merchant's refund, or fails it where the amount asks for that. */
  async #refund({
    refund_id: refundId,
    merchant_id: merchantId,
    amount_paise,
  }: {
    refund_id: string
    merchant_id: string
    amount_paise: bigint
  }): Promise<void> {
    const { clock, commands, random } = this.#services
    await commands
      .open(sendRefund)
      .run(
        { merchantId, refundId, runId: newId('rfr', clock.now(), random) },
        { actor: 'operator sandbox', action: 'refund.sent', target: refundId, tenantId: merchantId },
      )
    const utr = `SBXR${refundId.slice(4)}`.toUpperCase()
    const failed = { refundId, status: 'FAILED', reason: 'The account of the payer is closed' }
    await this.#send(
      '/rails/upi/refunds',
      refundFails(amount_paise) ? failed : { refundId, status: 'REFUNDED', utr },
    )
  }

  async #send(path: string, content: object): Promise<Record<string, unknown>> {
    const { clock, selfCall } = this.#services
    const [key] = railKeys(this.#services, 'upi')
    invariant(key, 'the sandbox has a rail key')
    const body = Buffer.from(JSON.stringify(content))
    const headers = {
      'content-type': 'application/json',
      [SIGNATURE_HEADER]: signNotice(body, key, clock.now()),
    }
    const response = await selfCall({ method: 'POST', path, headers, body })
    // The notice contradicts an earlier one, and is in quarantine.
    if (response.status === 202) fail('utr_conflict')
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}`)
    return (JSON.parse(response.body) as { payload: Record<string, unknown> }).payload
  }
}
