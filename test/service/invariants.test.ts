import { checkInvariants, INVARIANTS, nameOf } from '@svc/app/invariants'
import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import { adjustPayment } from '@svc/core/qr-codes/adjust-payment'
import { recordSettlement } from '@svc/core/qr-codes/record-settlement'
import { resolveSuspense } from '@svc/core/qr-codes/resolve-suspense'
import { Relay } from '@svc/core/webhooks/relay'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { notifyTransfer, numberOf, transferTo, withdraw } from '../harness/bank-rail.ts'
import { Terminal } from '../harness/card-rail.ts'
import { runHere } from '../harness/cli.ts'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { balanceOf, COINS, newConfig } from '../harness/coins.ts'
import { endedDispute } from '../harness/disputes.ts'
import { asPartner, createCard, newPartner, type TestPartner } from '../harness/partner.ts'
import { giveAccount } from '../harness/payouts.ts'
import { creditOf, newCode, notifyCredit } from '../harness/qr-codes.ts'
import { asSuperuser, MASTER_KEY, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

let service: TestService

beforeAll(async () => {
  service = await openService()
  const shop = await service.newMerchant()
  const merchant = await service.as(shop)
  const code = await newCode(service, merchant, { multipleUse: true })
  for (let i = 0; i < 2; i++) payloadOf(await notifyCredit(service.client, creditOf(code.tr)))
  const { utr } = payloadOf(await notifyCredit(service.client, creditOf(code.tr)))
  const lines = [{ utr, line: 1, amountPaise: paise(10_00n), settledOn: '2026-04-01' }]
  const settle = service.app.services.commands.open(recordSettlement)
  await settle.run({ tenantId: shop.merchantId, fileId: 'stf_first', lines })
  const credit = creditOf(code.tr, { amount: 1e6 })
  payloadOf(await notifyCredit(service.client, credit))
  payloadOf(await notifyCredit(service.client, { ...credit, payeeVpa: 'other@words' }))
  const { data } = payloadOf(await merchant.get('/api/v0/payments?status=ACCEPTED'))
  for (const resolution of [shop.merchantId, undefined]) {
    const { paymentId } = payloadOf(await notifyCredit(service.client, creditOf('NOSUCHCODE')))
    if (resolution)
      await service.app.services.commands
        .open(resolveSuspense)
        .run({ tenantId: 'house', paymentId, merchantId: resolution, reason: 'by phone' })
  }
  const refundId = async (referenceNumber: string): Promise<string> =>
    payloadOf(
      await merchant.post(`/api/v0/payments/${data[0].paymentId}/refunds`, { amount: 1, referenceNumber }),
    ).refundId
  for (const [reference, status] of [
    ['made', 'REFUNDED'],
    ['not made', 'FAILED'],
  ] as const) {
    const outcome = { refundId: await refundId(reference), status }
    payloadOf(await service.client.notify('/rails/upi/refunds', outcome, RAIL_KEY))
  }
  for (const status of ['WON', 'LOST'] as const) await endedDispute(service, data[0].paymentId, status)
  await service.app.services.commands.open(enterOpeningBalance).run({
    tenantId: shop.merchantId,
    kind: 'payable',
    ownerId: shop.merchantId,
    amountPaise: paise(70_00n),
    effectiveDate: '2026-03-31',
    reference: 'opb_first/1',
    reason: 'takeover',
  })
  for (const [amountPaise, reference] of [
    [paise(9_00n), 'LETTER0001'],
    [paise(9_50n), 'LETTER0002'],
  ] as const)
    await service.app.services.commands.open(adjustPayment).run({
      merchantId: shop.merchantId,
      paymentId: data[1].paymentId,
      amountPaise,
      reference,
      reason: 'letter of the bank',
    })
  await giveAccount(service, shop.merchantId)
  for (const outcome of ['FAILED', 'PAID']) payloadOf(await merchant.post('/sandbox/payouts', { outcome }))
  const partner = await newPartner(service)
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner, {}, { 'idempotency-key': 'first' }))
  payloadOf(await service.client.post(`/sandbox/cards/${svcCardId}/spend`, { amount: 1, channel: 'pos' }))
  const { token } = payloadOf(await client.get(`/api/v0/partner/svcCard/${svcCardId}`))
  const terminal = new Terminal(service.client, token)
  const { authorizationId } = await terminal.authorize(20)
  const { messageId: captureId } = await terminal.capture(5, { authorizationId })
  await terminal.refund(6, { captureId })
  payloadOf(await client.patch(`/api/v0/partner/svcCard/${svcCardId}/status`, { status: 'L' }))
  await endCards(client, partner)
  payloadOf(await notifyTransfer(service.client, transferTo(await numberOf(service, partner))))
  await withdraw(service, partner, 1_00n)
  const { event } = await newConfig(client, { coinsExpireAfterDays: 1, perUserDailyLimit: 10 })
  const { userId, companyId } = partner
  payloadOf(await client.post(`${COINS}/allocate`, { requestId: 'a', event, userId, companyId }))
  payloadOf(await client.post(`${COINS}/redeem`, { requestId: 'r', userId, amount: 3 }))
  expect((await balanceOf(client, userId)).active).toBe(7)
  await endAwards(client, partner)
  payloadOf(
    await client.post('/api/v0/webhook-endpoints', { url: 'http://127.0.0.1:34567/hook', enabled: false }),
  )
  const relay = new Relay(service.app.services, () => undefined)
  relay.loop.start()
  await relay.loop.stop()
})
afterAll(() => service.close())

/** One card that is replaced, one whose money is on its way back, and one that is dead with money on it. */
async function endCards(client: Client, partner: TestPartner): Promise<void> {
  const path = async () => `/api/v0/partner/svcCard/${payloadOf(await createCard(client, partner)).svcCardId}`
  payloadOf(await client.post(`${await path()}/replace`, { reason: 'lost' }))
  for (const isReturned of [true, false]) {
    const dead = await path()
    payloadOf(await client.patch(`${dead}/status`, { status: 'BL', reason: 'lost' }))
    if (isReturned) payloadOf(await client.post(`${dead}/return`, { consentReference: 'letter' }))
  }
}

/** An award that stays pending, one that is confirmed and spent, and one that is voided. */
async function endAwards(client: Client, { userId, companyId }: TestPartner): Promise<void> {
  const { event } = await newConfig(client, { activation: 'CONFIRMATION' })
  const [, confirmed, voided] = await Promise.all(
    ['b', 'c', 'd'].map(async (requestId) =>
      payloadOf(await client.post(`${COINS}/allocate`, { requestId, event, userId, companyId })),
    ),
  )
  const pathOf = (allocation: Json) => `${COINS}/allocations/${allocation.allocationId}`
  payloadOf(await client.post(`${pathOf(confirmed)}/confirm`, {}))
  payloadOf(await client.post(`${COINS}/redeem`, { requestId: 's', userId, amount: 9 }))
  for (const allocation of [confirmed, voided])
    payloadOf(
      await client.post(`${pathOf(allocation)}/void`, {
        requestId: allocation.requestId,
        reason: 'returned',
      }),
    )
}

const broken = async (): Promise<string[]> =>
  (await checkInvariants(service.app.services.database))
    .filter(({ violations }) => violations.length > 0)
    .map(({ name }) => name)

test('a service that has done its work breaks no invariant, and every kind of thing was looked at', async () => {
  expect(await broken()).toEqual([])
  const reports = await checkInvariants(service.app.services.database)
  const unseen = reports.filter(({ checked }) => checked === 0).map(({ of }) => of)
  expect(new Set(unseen)).toEqual(new Set(['deliveries']))
})

/** Each is damage that the invariant of that name must tell of; where a constraint would prevent it, that goes first. */
const DAMAGES: readonly (readonly [string, string])[] = [
  ['sum', `update ledger_accounts set balance = balance + 1 where kind = 'payable'`],
  ['balances', `update ledger_transfers set amount = amount + 1 where kind = 'card_spend'`],
  [
    'floors',
    `alter table ledger_accounts drop constraint balance_not_under_floor;
     update ledger_accounts set floor = balance + 1 where kind = 'payable'`,
  ],
  ['sides', `update ledger_transfers set unit = 'COIN' where kind = 'upi_credit'`],
  ['journals', 'update journals set legs = legs + 1'],
  ['journals', `delete from ledger_transfers where kind = 'coin_redemption'`],
  [
    'reversals',
    `update journals set reverses = (select journal_id from journals where kind = 'card_load' limit 1) where kind = 'card_spend'`,
  ],
  ['adjustment_totals', 'update payments set adjusted_paise = adjusted_paise + 1 where adjusted_paise <> 0'],
  ['adjustment_totals', 'update payments set adjusted_paise = 0'],
  [
    'adjustment_journals',
    `update ledger_transfers set amount = amount + 1 where kind = 'payment_adjustment'`,
  ],
  ['adjustment_journals', 'update payment_adjustments set advanced_paise = 1 where change_paise < 0'],
  ['adjustment_events', `delete from outbox where type = 'payment.adjusted'`],
  ['opening_balances', 'update opening_balances set amount_paise = amount_paise + 1'],
  ['opening_balances', `update opening_balances set reversed_by = 'jrn_other', payout_id = null`],
  ['opening_balances_paid_out', 'update opening_balances set payout_id = null'],
  ['credits', `delete from ledger_transfers where kind = 'upi_credit'`],
  [
    'refunds',
    `update payments set status = 'REFUNDED' where refund_paise = 0 and adjusted_paise = 0
     and status <> 'ASSIGNED'`,
  ],
  ['codes', 'update qr_codes set accepted_count = accepted_count + 1'],
  ['closed_merchants', 'update tenants set disabled_at = now(), closing_at = now(), closed_at = now()'],
  [
    'single_use',
    'alter table qr_codes drop constraint single_use_paid_once; update qr_codes set multiple_use = false',
  ],
  ['cancelled', `update qr_codes set status = 'CANCELLED', modified_at = created_at`],
  ['code_revisions', 'update qr_codes set revision = revision + 1'],
  ['code_revisions', `update qr_codes set close_reason = 'cancelled', revision = revision + 1`],
  ['payment_events', `delete from outbox where type = 'payment.refund_pending'`],
  ['notices', `update rail_notices set payment_id = null`],
  ['bank_credits', 'update bank_credits set amount_paise = amount_paise + 1'],
  ['card_withdrawals', `delete from outbox where type = 'card_account.withdrawn'`],
  [
    'card_withdrawals',
    `update ledger_transfers set credit_account_id = 'bank:house' where kind = 'card_withdrawal'`,
  ],
  ['bank_credit_events', `delete from outbox where type = 'card_account.funded'`],
  ['settlement_lines', 'update settlement_lines set amount_paise = amount_paise + 1'],
  ['settlement_journals', `update ledger_transfers set amount = amount + 1 where kind = 'bank_settlement'`],
  ['code_events', `delete from outbox where type = 'qr_code.credited'`],
  ['refund_totals', 'update payments set refund_paise = refund_paise + 1 where refund_paise > 0'],
  [
    'refund_totals',
    `update merchant_refunds set status = 'FAILED', failure_reason = 'none' where status = 'REFUNDED'`,
  ],
  ['refund_journals', `delete from ledger_transfers where kind = 'merchant_refund_paid'`],
  ['refund_journals', `delete from ledger_transfers where kind = 'merchant_refund_failed'`],
  ['refund_events', `delete from outbox where type = 'payment.refund_failed'`],
  ['dispute_totals', 'update payments set dispute_paise = dispute_paise + 1 where dispute_paise > 0'],
  ['dispute_journals', `delete from ledger_transfers where kind = 'dispute'`],
  ['dispute_journals', `update disputes set status = 'WON' where status = 'LOST'`],
  ['dispute_events', `delete from outbox where type = 'dispute.won'`],
  ['suspense', `update payments set amount_paise = amount_paise + 1 where status = 'SUSPENSE'`],
  ['assigned_payments', `delete from payments where assigned_from is not null`],
  [
    'inter_tenant',
    `update ledger_accounts set balance = balance + 1 where account_id = 'inter_tenant:house'`,
  ],
  [
    'payout_totals',
    'update payouts set adjustment_paise = adjustment_paise + 1, amount_paise = amount_paise + 1',
  ],
  ['payout_totals', 'update payouts set fee_paise = fee_paise + 1, amount_paise = amount_paise - 1'],
  ['payout_lines', `update payout_lines set released = true where kind = 'payment'`],
  ['payout_lines', 'update payout_lines set amount_paise = amount_paise + 1'],
  ['payout_journals', `delete from ledger_transfers where kind = 'payout_paid'`],
  ['payout_journals', `delete from ledger_transfers where kind = 'payout_released'`],
  [
    'payouts_complete',
    `update payout_positions set due_from = now(); delete from payout_lines where kind = 'payment'`,
  ],
  ['card_loads', `update ledger_transfers set amount = amount + 1 where kind = 'card_load'`],
  ['card_balances', 'update cards set load_paise = load_paise + 1'],
  ['card_accounts', 'delete from cards'],
  ['card_owners', `update card_accounts set company_id = 'com_other'`],
  [
    'erased_holders',
    `update users set email = null, mobile = null, title = null, first_name = null, middle_name = null, last_name = null,
       gender = null, special_date = null, tax_pan = null, erased_at = now()`,
  ],
  ['card_history', `update cards set status = 'UL' where status = 'L'`],
  ['card_events', `delete from outbox where type = 'card.spent'`],
  [
    'card_holds',
    `update card_authorizations set amount_paise = 1000000, held_paise = 1000000 - captured_paise`,
  ],
  [
    'card_authorizations',
    'update card_authorizations set captured_paise = captured_paise + 1, held_paise = held_paise - 1',
  ],
  ['card_messages', `update card_messages set refunded_paise = refunded_paise - 1 where type = 'capture'`],
  ['card_messages', `delete from ledger_transfers where kind = 'card_refund'`],
  ['card_exceptions', 'delete from card_exceptions'],
  ['card_message_events', `delete from outbox where type = 'card.captured'`],
  ['card_ends', `update cards set unclaimed_at = now() - interval '2 days' where ended_at is not null`],
  ['card_ends', `update cards set replaced_by = 'card_other', due_at = null where ended_at is not null`],
  ['card_replacements', 'update cards set replaces = null'],
  ['card_returns', 'update card_returns set amount_paise = amount_paise + 1'],
  ['card_end_events', `delete from outbox where type = 'card.replaced'`],
  ['card_end_events', `delete from outbox where type = 'card.return_waiting'`],
  ['card_answers', 'update cards set ciphertext_hash = null'],
  ['coin_balances', `update ledger_accounts set balance = balance + 1 where kind = 'coins'`],
  ['coin_pending', `update ledger_accounts set balance = balance + 1 where kind = 'coins_pending'`],
  ['coin_wallets', 'update coin_wallets set allocated = allocated + 1'],
  ['coin_uses', 'update coin_lot_uses set amount = amount + 1'],
  ['coin_redemptions', 'update coin_redemptions set amount = amount + 1'],
  ['coin_transfers', `delete from ledger_transfers where kind = 'coin_redemption'`],
  ['coin_transfers', `delete from ledger_transfers where kind = 'coin_activation'`],
  ['coin_transfers', `delete from ledger_transfers where kind = 'coin_void'`],
  ['coin_history', 'update coin_entries set balance_after = balance_after + 1'],
  ['coin_late_uses', 'update coin_lots set expires_at = created_at'],
  ['coin_early_uses', `update coin_lots set confirmed_at = 'infinity' where confirmed_at is not null`],
  ['coin_voided', 'update coin_void_takes set amount = amount + 1'],
  ['coin_voids', 'update coin_voids set amount = amount + 1'],
  ['coin_daily_limits', 'update coin_config_revisions set per_user_daily_limit = 1'],
  ['coin_events', `delete from outbox where type = 'coins.redeemed'`],
  ['coin_events', `delete from outbox where type = 'coins.activated'`],
  ['coin_events', `delete from outbox where type = 'coins.voided'`],
  ['coin_announcements', 'update coin_lots set announced_at = created_at where expires_at > created_at'],
  ['feeds', 'delete from event_numbers where sequence = 2'],
  ['feeds', 'delete from outbox where event_id in (select event_id from event_numbers where sequence = 2)'],
  ['event_queue', 'delete from event_numbers where sequence = 1'],
  ['feeds', 'update event_counters set last_sequence = last_sequence + 1'],
  ['event_order', `update event_numbers set sequence = -sequence`],
  [
    'deliveries',
    `insert into webhook_deliveries (endpoint_id, tenant_id, sequence, event_id, object_id, first, due_at)
     select endpoint_id, tenant_id, 999, 'evt_none', 'none', true, now() from webhook_endpoints`,
  ],
  [
    'credential_limits',
    `insert into credential_limits (tenant_id, credential_id, scopes, revision, changed_at)
     select tenant_id, 'key_none', '{payments:read}', 1, now() from merchants m join tenants t on t.tenant_id = m.merchant_id`,
  ],
]

/** Whatever an invariant can be asked of. */
const IDS = `select array(
  select svc_card_id from cards union all select qr_code_id from qr_codes union all select payment_id from payments
  union all select notice_id from rail_notices union all select credit_id from bank_credits union all select utr from settlement_lines
  union all select refund_id from merchant_refunds union all select payout_id from payouts
  union all select dispute_id from disputes union all select journal_id from opening_balances
  union all select adjustment_id from payment_adjustments
  union all select authorization_id from card_authorizations union all select message_id from card_messages
  union all select account_id from ledger_accounts union all select user_id from users
  union all select tenant_id from tenants union all select key from idempotency_keys) as ids`

test.each(DAMAGES)('%s is found broken, by all and by those concerned, after: %s', async (name, damage) => {
  const { differences, differencesOf } = INVARIANTS.find((invariant) => nameOf(invariant) === name)!
  await asSuperuser(service.db.database, async (db) => {
    // No foreign key and no trigger is in the way, and at the end nothing has happened.
    await db.query('begin; set local session_replication_role = replica')
    const [{ ids }] = (await db.query(IDS)).rows
    expect((await db.query(differences.text)).rows).toEqual([])
    await db.query(damage)
    expect((await db.query(differences.text)).rows.length).toBeGreaterThan(0)
    if (differencesOf) expect((await db.query(differencesOf.text, [ids])).rows.length).toBeGreaterThan(0)
    await db.query('rollback')
  })
})

test('no invariant is without such damage', () => {
  expect(new Set(DAMAGES.map(([name]) => name))).toEqual(new Set(INVARIANTS.map(nameOf)))
})

test('what is asked of some objects is what is asked of all', async () => {
  // An invariant of the whole alone has nothing to ask of some.
  const whole = INVARIANTS.filter(({ differencesOf }) => !differencesOf).map(nameOf)
  expect(whole).toEqual(['sum', 'sides', 'journals', 'reversals', 'settlement_journals', 'inter_tenant'])
  for (const { differencesOf } of INVARIANTS)
    if (differencesOf)
      expect(
        await service.app.services.database.operate((tx) => tx.query(differencesOf, [['none']])),
      ).toEqual([])
})

test('svc admin invariants says what it looked at, and exits with 1 when something is wrong', async () => {
  const env = { DATABASE_URL: service.db.url, SVC_MASTER_KEY: MASTER_KEY }
  const good = await runHere(['admin', 'invariants'], env)
  expect(good.stdout).toMatch(
    /ok +balances +\d+ ledger accounts +Every balance equals the transfers of its account/,
  )
  expect(good.stdout).toContain(`All ${INVARIANTS.length} invariants hold.`)
  expect(good.code).toBe(0)
  await asSuperuser(service.db.database, (db) =>
    db.query(`update event_counters set last_sequence = last_sequence + 1`),
  )
  const bad = await runHere(['admin', 'invariants', '--json'], env)
  expect(bad.code).toBe(1)
  const { ok, invariants } = JSON.parse(bad.stdout)
  expect(ok).toBe(false)
  expect(invariants.find(({ name }: { name: string }) => name === 'feeds').violations.length).toBeGreaterThan(
    0,
  )
})
