import { calendarDay } from '@svc/kernel/time'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlOn } from '../harness/approvals.ts'
import { copyOf, journal, RIGHTS, saidTo } from '../harness/attack-statements.ts'
import { payloadOf } from '../harness/client.ts'
import { COINS, newCoinPartner, newConfig, newUsers } from '../harness/coins.ts'
import { newOperator } from '../harness/console.ts'
import { utrOf } from '../harness/disputes.ts'
import { createLogins, LOGINS_BUT_RAIL } from '../harness/documented-logins.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { giveFee } from '../harness/payouts.ts'
import { newUtr } from '../harness/qr-codes.ts'
import { shopWith } from '../harness/refunds.ts'
import { asSuperuser, openService, RAIL_KEY, type TestService } from '../harness/service.ts'

let service: TestService
beforeAll(async () => {
  await createLogins()
  service = await openService({ env: { APPROVAL_ABOVE_RUPEES: '1000' }, background: false })
})
afterAll(() => service.close())

const HOUSE = 'house'
const [RAIL] = [['rail', 'svc_service']] as const
let transfers = 0

/** What the books would have of a transfer of the bank that no one signed. */
const transfer = (
  kind: string,
  [debit, credit]: readonly [string, string],
  paise: number,
  more = '',
): string => {
  const n = String(++transfers).padStart(2, '0')
  const batchId = `stb_forged${n}`
  return `insert into settlement_batches (tenant_id, batch_id, rail, batch_utr, value_date, is_awaited, created_at)
    values ('${HOUSE}', '${batchId}', 'upi', 'FORGED${n}', current_date, true, now());
    ${more.replaceAll('$BATCH', batchId)}
    ${journal(HOUSE, kind, [`${debit}:${HOUSE}`, `${credit}:${HOUSE}`], paise, {
      id: `01k0attack00000000000000${n}`,
      object: batchId,
      reference: batchId,
    })}`
}

const FORGED = [
  ['charges', 'settlement_charged', ['rail_charges', 'bank']],
  ['input tax', 'settlement_charged', ['gst_input', 'bank']],
  ['charges that are given back', 'settlement_charged', ['bank', 'rail_charges']],
  ['money that fits nothing', 'settlement_unmatched', ['bank', 'settlement_unmatched']],
  ['debits that fit nothing', 'settlement_unmatched', ['settlement_unmatched', 'bank']],
  ['charges of the card network', 'network_settlement', ['network_charges', 'ppi_bank']],
  ['interchange', 'network_settlement', ['ppi_bank', 'interchange_income']],
] as const

test.each(FORGED)(
  'PostgreSQL rejects %s of a transfer that no one signed, counted or approved',
  async (_, kind, legs) => {
    const said = await Promise.all(
      LOGINS_BUT_RAIL.map(([login, role]) =>
        saidTo(service.db, [HOUSE], login, role, transfer(kind, legs, 1)),
      ),
    )
    expect(said).toEqual(
      said.map(() =>
        expect.toSatisfy((it) => [RIGHTS, 'postings_have_a_source', 'postings_are_counted'].includes(it)),
      ),
    )
    expect(said).toContain('postings_are_counted')
    expect(await saidTo(service.db, [HOUSE], ...RAIL, transfer(kind, legs, 100_000_00))).toBe('accepted')
  },
)

test('charges of a file are booked by the approval of this transfer and amount alone', async () => {
  const [a, b] = [await newOperator(service, 'finance'), await newOperator(service, 'finance')]
  const approved = (kind: string, reference: string, paise: number) =>
    `insert into approvals (tenant_id, approval_id, kind, amount_paise, reference, request, reason, requested_by, requested_at,
       expires_at, outcome, decided_by, decided_at, journal_id)
     values ('${HOUSE}', 'apv_$BATCH', '${kind}', ${paise}, '${reference}', '{}', 'x', 'operator ${a.name}', now(),
       now() + interval '1 hour', 'APPROVED', 'operator ${b.name}', now(), 'jrn_01k0attack00000000000000' || right('$BATCH', 2));`
  const legs = ['rail_charges', 'bank'] as const
  const book = (...by: Parameters<typeof approved>) =>
    saidTo(
      service.db,
      [HOUSE],
      'operators',
      'svc_operator',
      transfer('settlement_charged', legs, 2_000_00, approved(...by)),
    )
  expect(await book('settlement_recorded', 'stb_other', 2_000_00)).toBe('postings_are_counted')
  expect(await book('settlement_recorded', '$BATCH', 2_000_01)).toBe('postings_are_counted')
  expect(await book('statement_resolved', '$BATCH', 2_000_00)).toBe('postings_are_counted')
  expect(await book('settlement_recorded', '$BATCH', 2_000_00)).toBe('accepted')
})

test('a fee is of its payment’s business day and the rate of that day, whichever login enters it', async () => {
  const { merchantId, paymentId } = await shopWith(service, 500)
  const [{ today }] = (await sqlOn<{ today: string }>(
    service,
    `select (created_at at time zone 'Asia/Kolkata')::date::text as today from payments where payment_id = $1`,
    [paymentId],
  )) as [{ today: string }]
  const accrual = (day: string, rate: number, [fee, half, integrated] = [0, 0, 0]) =>
    `insert into fee_accruals (merchant_id, payment_id, business_day, journal_id, fee_paise, cgst_paise, sgst_paise, igst_paise,
       tax_basis_points)
     values ('${merchantId}', '${paymentId}', ${day}, ${fee === 0 ? 'null' : `'jrn_01k0attack0000000000000099'`}, ${fee},
       ${half}, ${half}, ${integrated}, ${rate})`
  const said = (text: string) =>
    Promise.all(
      [...LOGINS_BUT_RAIL, RAIL].map(([login, role]) => saidTo(service.db, [merchantId], login, role, text)),
    )
  const refused = async (text: string, by = 'charged_by_the_schedule') =>
    expect(new Set(await said(text))).toEqual(new Set([by]))
  for (const days of [-2, -1, 1, 2]) await refused(accrual(`'${today}'::date + ${days}`, 1800))
  for (const rate of [0, 1799, 10_000]) await refused(accrual(`'${today}'`, rate))
  await giveFee(service, merchantId, { basisPoints: 100, fixedPaise: 0n })
  await refused(accrual(`'${today}'`, 1800))
  await refused(accrual(`'${today}'`, 1800, [500, 0, 90]))
  await refused(accrual(`'${today}'`, 10_000, [500, 250, 0]))
  // The right one has only no journal.
  await refused(accrual(`'${today}'`, 1800, [500, 45, 0]), 'journal_is_the_merchants')
  for (const change of [`tax_rates = '{"2017-07-01": 9999}'`, 'day_ends_at = 1', `state = '07'`])
    await refused(`update charge_terms set ${change}`, RIGHTS)
})

test('coins are those of a lot that a configuration awards, whichever login enters them', async () => {
  const { client, partner } = await newCoinPartner(service)
  const { partnerId } = partner
  const [userId, other] = (await newUsers(service, partner, 2)) as [string, string]
  const config = await newConfig(client)
  const awarded = async (of: string) =>
    payloadOf(
      await client.post(`${COINS}/allocate`, {
        requestId: of,
        event: config.event,
        userId: of,
        companyId: partner.companyId,
      }),
    ).allocationId
  const [real] = [await awarded(userId), await awarded(other)]
  const coins = (lot: string, amount: number, of = userId) =>
    journal(partnerId, 'coin_allocation', [`coins_issued:${partnerId}`, `coins:${of}`], amount, {
      object: lot,
      reference: lot,
    }).replace(`'INR'`, `'COIN'`)
  const lot = (columns: object) =>
    copyOf('coin_lots', { lot_id: 'cal_forged', request_id: 'forged', amount: 10, remaining: 10, ...columns })
  const attacks = [
    [coins('cal_none', 1_000_000), 'postings_are_proven'],
    // A second time, and of another user.
    [coins(real, 10), 'postings_are_proven'],
    [coins(real, 10, other), 'postings_are_proven'],
    [`${coins('cal_forged', 1_000_000)}; ${lot({})}`, 'lots_are_awarded'],
    [
      `${coins('cal_forged', 1_000_000)}; ${lot({ amount: 1_000_000, remaining: 1_000_000 })}`,
      'lots_are_awarded',
    ],
    [`${coins('cal_forged', 10)}; ${lot({ revision: 2 })}`, 'lots_are_awarded'],
    [lot({}), 'lots_are_awarded'],
  ] as const
  for (const [text, constraint] of attacks)
    for (const [login, role] of [...LOGINS_BUT_RAIL, RAIL])
      expect([text, await saidTo(service.db, [partnerId], login, role, text)]).toEqual([
        text,
        expect.toSatisfy((it) => it === constraint || (it === RIGHTS && role === 'svc_operator')),
      ])
})

test('what moves between our bank accounts and what banks owe us has its lines, whichever login enters it', async () => {
  const partner = await newPartner(service, { fundsPaise: 1_000_00n })
  const { merchantId, paymentId } = await shopWith(service, 500)
  const utr = await utrOf(service, paymentId)
  const lines = [{ kind: 'payment', reference: utr, amount: '500.00' }]
  const valueDate = calendarDay(new Date(), 'Asia/Kolkata')
  payloadOf(
    await service.client.notify('/rails/upi/settlements', { batchUtr: newUtr(), valueDate, lines }, RAIL_KEY),
  )
  const [{ settled }] = (await sqlOn<{ settled: string }>(
    service,
    'select journal_id as settled from settlement_lines where utr = $1',
    [utr],
  )) as [{ settled: string }]
  const between = (kind: string, tenantId: string, accounts: readonly [string, string], object = 'x') =>
    [accounts, [accounts[1], accounts[0]]].map(([debit, credit]) =>
      journal(tenantId, kind, [`${debit}:${tenantId}`, `${credit}:${tenantId}`], 1, {
        id: '01k0attack0000000000000088',
        object,
        reference: object,
      }),
    )
  const attacks = [
    ...between('bank_settlement', merchantId, ['bank', 'upi_clearing']),
    ...between('bank_settlement_reversed', merchantId, ['bank', 'upi_clearing'], settled),
    ...between('settlement_matched', HOUSE, ['bank', 'settlement_unmatched']),
    ...between('network_matched', HOUSE, ['ppi_bank', 'network_unmatched']),
    ...between('funding_settled', partner.partnerId, ['ppi_bank', 'funding_clearing']),
  ]
  const tenants = [HOUSE, merchantId, partner.partnerId]
  for (const text of attacks)
    for (const [login, role] of [...LOGINS_BUT_RAIL, RAIL])
      expect([text, await saidTo(service.db, tenants, login, role, text)]).toEqual([
        text,
        'settlements_have_lines',
      ])
})

test('money of a card goes to another one only as its replacement for the same holder, whichever login says so', async () => {
  const partner = await newPartner(service, { fundsPaise: 1_000_00n })
  const client = await asPartner(service.client, partner)
  const { partnerId } = partner
  const [card, other] = [await createCard(client, partner), await createCard(client, partner)].map(
    (each) => payloadOf(each).svcCardId as string,
  )
  const theft = `update cards set status = 'BL', ended_at = now(), unclaimed_at = now(), replaced_by = '${other}'
      where svc_card_id = '${card}';
    ${journal(partnerId, 'card_replacement', [`card:${card}`, `card:${other}`], 100)}`
  for (const [login, role] of [...LOGINS_BUT_RAIL, RAIL])
    expect([role, await saidTo(service.db, [partnerId], login, role, theft)]).toEqual([
      role,
      role === 'svc_operator' ? RIGHTS : 'postings_are_proven',
    ])
})

test('in live mode what one person moves is counted for an operator who may, and under no other name', async () => {
  const { merchantId } = await shopWith(service, 500)
  const { name } = await newOperator(service, 'finance')
  const viewer = await newOperator(service, 'viewer')
  const said = (person: string) =>
    saidTo(
      service.db,
      [merchantId],
      'operators',
      'svc_operator',
      `insert into one_person_postings (tenant_id, journal_id, person, kind, amount_paise)
       select tenant_id, journal_id, '${person}', 'card_funding', 1 from journals where tenant_id = '${merchantId}'`,
    )
  await asSuperuser(service.db.database, (db) =>
    db.query('update approval_limit set administrators_by_two = true'),
  )
  for (const person of ['operator invented', 'cli mallory@laptop', `operator ${viewer.name}`])
    expect([person, await said(person)]).toEqual([person, 'counted_for_an_operator'])
  expect(await said(`operator ${name}`)).toBe('accepted')
})
