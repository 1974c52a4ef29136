import { afterAll, beforeAll, expect, test } from 'vitest'
import { journal, RIGHTS, saidTo } from '../harness/attack-statements.ts'
import { newOperator } from '../harness/console.ts'
import { createLogins, LOGINS_BUT_RAIL } from '../harness/documented-logins.ts'
import { openService, type TestService } from '../harness/service.ts'

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
