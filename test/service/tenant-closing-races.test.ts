import { continueClosings } from '@svc/console-api/tenant-closing'
import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import type { WaitingApproval } from '@svc/core/ledger/money-command'
import type { OpenedKind } from '@svc/core/ledger/opening-balance'
import { createQrCode } from '@svc/core/qr-codes/create-qr-code'
import { issueCredential } from '@svc/core/tenants/credentials'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, newReference, openApprovers, sqlOn } from '../harness/approvals.ts'
import { fundsOf, notifyTransfer, numberOf, quarantined, transferTo } from '../harness/bank-rail.ts'
import {
  closingStateOf,
  commandsHaveEnded,
  leftOpenOf,
  numberEvents,
  startClosingOf,
  takeClosingSteps,
} from '../harness/closing.ts'
import type { Browser } from '../harness/console.ts'
import { onceAwaited } from '../harness/lock-wait.ts'
import { daysAgo } from '../harness/opening-balances.ts'
import { operatorsOf } from '../harness/operators.ts'
import { newPartner } from '../harness/partner.ts'
import { brokenIn, newShop } from '../harness/refunds.ts'
import { asSuperuser, type TestService } from '../harness/service.ts'
import { balanceOn } from '../harness/settled-outside.ts'

let service: TestService
let other: TestService
let ravi: Browser
beforeAll(async () => {
  ;({ service, other, ravi } = await openApprovers())
})
afterAll(async () => {
  expect(await brokenIn(service)).toEqual([])
  await other?.close()
  await service?.close()
})

const close = (tenantId: string) => startClosingOf(service, tenantId)
const left = (tenantId: string) => leftOpenOf(service, tenantId)
const isClosed = async (tenantId: string) => (await closingStateOf(service, tenantId)) === 'closed'

test('a tenant whose money moves while it is being closed stays open', async () => {
  const { cardAccountId, partnerId } = await newPartner(service, { fundsPaise: 0n })
  await close(partnerId)
  await numberEvents(service)
  await commandsHaveEnded(service)
  expect(await left(partnerId)).toEqual([])
  const credit = (db: { query(text: string, values: unknown[]): Promise<unknown> }, amount: number) =>
    db.query(
      `update ledger_accounts set balance = balance + case when kind = 'card_funding' then $3::bigint else -$3::bigint end
       where tenant_id = $1 and account_id in ('card_funding:' || $2, 'funding_clearing:' || $1)`,
      [partnerId, cardAccountId, amount],
    )
  await asSuperuser(service.db.database, async (db) => {
    await db.query('begin')
    await credit(db, 100)
    const closing = continueClosings(other.app.services)
    // It has found nothing open, and waits for the accounts.
    await onceAwaited(db, 'commit')
    await closing
    expect(await isClosed(partnerId)).toBe(false)
    expect(await left(partnerId)).toEqual([{ what: 'card_accounts', amount: '1.00' }])
    await credit(db, -100)
  })
  await continueClosings(other.app.services)
  expect(await isClosed(partnerId)).toBe(true)
})

test('a transfer that waits while its partner is closed goes to quarantine', async () => {
  const partner = await newPartner(service, { fundsPaise: 0n })
  const { cardAccountId, partnerId } = partner
  const notice = transferTo(await numberOf(service, partner))
  await close(partnerId)
  await asSuperuser(service.db.database, async (db) => {
    await db.query('begin; set local session_replication_role = replica')
    await db.query('select from ledger_accounts where tenant_id = $1 for no key update', [partnerId])
    await db.query('update tenants set closed_at = clock_timestamp() where tenant_id = $1', [partnerId])
    const notifying = notifyTransfer(service.client, notice)
    await onceAwaited(db, 'commit')
    expect(quarantined(await notifying)).toBe('partner_closed')
  })
  expect(await fundsOf(service, { cardAccountId })).toEqual({ balance: '0', entries: 0 })
})

const opening = (tenantId: string, ownerId: string, kind: OpenedKind, rupees: bigint) => ({
  tenantId,
  ownerId,
  kind,
  amountPaise: paise(rupees * 100n),
  effectiveDate: daysAgo(1),
  reference: `opb_${newReference()}/1`,
  reason: 'takeover',
})

test('a tenant that is closing gets no opening balance, and a repeat of an earlier one returns that', async () => {
  const { run } = operatorsOf(service.app.services.commands).open(enterOpeningBalance)
  const [{ merchantId }, entered] = [await newShop(service), await newShop(service)]
  const { cardAccountId, partnerId } = await newPartner(service, { fundsPaise: 0n })
  const before = opening(entered.merchantId, entered.merchantId, 'payable', 7n)
  const first = await run(before)
  for (const tenantId of [merchantId, partnerId, entered.merchantId]) await close(tenantId)
  for (const args of [
    opening(merchantId, merchantId, 'payable', 7n),
    opening(partnerId, cardAccountId, 'card_funding', 7n),
  ])
    await expect(run(args)).rejects.toMatchObject({ code: 'tenant_closing' })
  expect(await run(before)).toMatchObject({ entered: first.entered, journal: undefined })
})

test('an opening balance that is approved once its tenant is closing is not posted', async () => {
  const { merchantId } = await newShop(service)
  const args = opening(merchantId, merchantId, 'payable', 2_000n)
  const audit = { actor: 'operator asha', target: merchantId }
  const waiting = await service.app.services.commands.open(enterOpeningBalance).run(args, audit)
  await close(merchantId)
  const refused = await approve(ravi, (waiting as WaitingApproval).approval.approvalId)
  expect([refused.status, refused.error]).toEqual([409, 'tenant_closing'])
  expect(await balanceOn(service, `payable:${merchantId}`)).toBe('0')
})

test('a merchant is closed only after the commands of its last tokens, so that no code of it stays active', async () => {
  const { merchantId } = await newShop(service)
  await close(merchantId)
  await numberEvents(service)
  await continueClosings(other.app.services)
  expect(await closingStateOf(service, merchantId)).toBe('closing')
  // A request whose token was checked before.
  const { code } = await service.app.services.commands.open(createQrCode).run({ merchantId, request: {} })
  const stateAfterSteps = async () => {
    await numberEvents(service)
    await takeClosingSteps(other)
    return closingStateOf(service, merchantId)
  }
  await expect.poll(stateAfterSteps).toBe('closed')
  const [{ status }] = (await sqlOn<{ status: string }>(
    service,
    'select status from qr_codes where qr_code_id = $1',
    [code.qrCodeId],
  )) as [{ status: string }]
  expect(status).toBe('CANCELLED')
})

test('a credential that is issued while its tenant starts to close is revoked with the others', async () => {
  const merchant = await service.newMerchant()
  const { merchantId } = merchant
  const { database, keyring, random } = service.app.services
  await asSuperuser(service.db.database, async (db) => {
    // Holds up the one who issues, after it has found the tenant open.
    await db.query('begin')
    await db.query('lock table api_keys in share mode')
    const issuing = database.operate((tx) =>
      issueCredential(tx, { keyring, random, mode: 'test' }, { tenantId: merchantId, name: 'late' }),
    )
    await onceAwaited(db)
    const closing = startClosingOf(other, merchantId)
    await db.query('select pg_sleep(0.2)')
    await db.query('commit')
    await issuing
    await closing
  })
  expect(
    await sqlOn(service, 'select from api_keys where tenant_id = $1 and revoked_at is null', [merchantId]),
  ).toEqual([])
})
