import { insertCardAccount } from '@svc/core/cards/account/card-account'
import { fundAccount } from '@svc/core/cards/account/fund-account'
import { carriedOut } from '@svc/core/ledger/money-command'
import { paise } from '@svc/kernel/money'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operatorsOf } from '../harness/operators.ts'
import { newPartner, type TestPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await openService()
  other = await openService({ db: service.db, background: false })
})
afterAll(async () => {
  await other?.close()
  await service?.close()
})

const secondAccount = ({ partnerId, companyId }: TestPartner): Promise<string> =>
  service.app.services.database.operate(async (tx) =>
    insertCardAccount(tx, service.app.services.random, {
      partnerId,
      companyId,
      product: 'incentive',
      accountType: 'GIFT',
      binType: 'GIFT',
      programme: 'Second programme',
      denominationPaise: 500_00n,
    }),
  )

let references = 0
const newReference = (): string => `AXIS${String(++references).padStart(8, '0')}`

async function fund(
  { partnerId, cardAccountId }: TestPartner,
  reference: string,
  amountPaise: bigint,
  { app }: TestService = service,
) {
  const args = { partnerId, cardAccountId, amountPaise: paise(amountPaise), reference, reason: 'April float' }
  const audit = {
    actor: 'asha',
    action: 'card_account.funded',
    target: cardAccountId,
    tenantId: partnerId,
  }
  return carriedOut(await operatorsOf(app.services.commands).open(fundAccount).run(args, audit))
}

async function booksOf({ cardAccountId, partnerId }: TestPartner) {
  return asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query('select balance::text from ledger_accounts where account_id = $1', [
      `card_funding:${cardAccountId}`,
    ])
    const journals = await db.query(
      "select reference, reason from journals where tenant_id = $1 and kind = 'card_funding' and reference is not null",
      [partnerId],
    )
    return { balance: rows[0].balance, journals: journals.rows }
  })
}

test('a reference of the bank is entered once, however it is written: a repeat returns the first funding', async () => {
  const partner = await newPartner(service, { fundsPaise: 0n })
  const reference = newReference()
  const first = await fund(partner, reference, 1_000_00n)
  const spelled = `${reference.slice(0, 4).toLowerCase()}-${reference.slice(4)}`
  const again = await fund(partner, spelled, 1_000_00n, other)
  expect(again.transfer.transferId).toBe(first.transfer.transferId)
  expect(again.balancePaise).toBe(1_000_00n)
  expect(await booksOf(partner)).toEqual({
    balance: '100000',
    journals: [{ reference, reason: 'April float' }],
  })
})

test('a reference with another amount or account is rejected, and nothing is entered', async () => {
  const partner = await newPartner(service, { fundsPaise: 0n })
  const reference = newReference()
  await fund(partner, reference, 10_00n)
  const refused = { code: 'funding_reference_used' }
  await expect(fund(partner, reference, 10_01n)).rejects.toMatchObject(refused)
  const colleague = { ...partner, cardAccountId: await secondAccount(partner) }
  await expect(fund(colleague, reference, 10_00n)).rejects.toMatchObject(refused)
  expect((await booksOf(partner)).balance).toBe('1000')
  expect((await booksOf(colleague)).balance).toBe('0')
})

test('two processes that enter one payment at once enter it once', async () => {
  const partner = await newPartner(service, { fundsPaise: 0n })
  for (let round = 1; round <= 20; round++) {
    const reference = newReference()
    const both = await Promise.all(
      [service, other, service, other].map((each) => fund(partner, reference, 1_00n, each)),
    )
    expect(new Set(both.map(({ transfer }) => transfer.transferId)).size).toBe(1)
    expect((await booksOf(partner)).balance).toBe(String(round * 100))
  }
})

test('a bank’s reference funds one partner: a manual entry for another is rejected, also at once from two processes', async () => {
  const partners = [
    await newPartner(service, { fundsPaise: 0n }),
    await newPartner(service, { fundsPaise: 0n }),
  ] as const
  for (let round = 0; round < 10; round++) {
    const reference = newReference()
    const entered = await Promise.allSettled([
      fund(partners[0], reference, 100n),
      fund(partners[1], reference, 100n, other),
    ])
    expect(entered.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(entered.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'funding_reference_used' },
    })
  }
})
