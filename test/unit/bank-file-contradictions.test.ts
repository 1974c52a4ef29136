import { responseReader } from '@svc/core/bank-files/response-rows'
import { readStatement } from '@svc/core/bank-files/statement-file'
import { expect, test } from 'vitest'
import { csvOf, DAYS, FILE_KINDS, type FileKind, saidBy, sourceOf } from '../harness/bank-files.ts'

const kindOf = (name: string): FileKind => FILE_KINDS.find((kind) => kind.name === name)!
const THREE = kindOf('settlement of three columns')
const PAYTM = kindOf('paytm')
const RESPONSE = kindOf('response')
const RESPONSES: FileKind = {
  ...RESPONSE,
  read: responseReader(
    'payout',
    new Map([
      ['PAID', 'done'],
      ['FAILED', 'failed'],
    ]),
  ),
}

test.each([
  ['Transfer Status', 'FAILED'],
  ['payout_status', 'FAILED'],
  ['settlement status', 'ON_HOLD'],
  ['tran_status', 'PENDING'],
  ['response_code', 'U30'],
  ['success', 'false'],
  ['error_code', 'ZM'],
  ['Dr/Cr', 'DR'],
  ['type', 'REVERSAL'],
  ['order_currency', 'USD'],
])('a column %s with %s beside a payment makes the line unreadable, by its name', async (column, value) => {
  for (const kind of [THREE, PAYTM]) {
    const said = await saidBy(kind, csvOf({ ...kind.row, [column]: value }))
    expect(said, kind.name).toMatch(/^problem: line 1/)
    expect(said).toContain(column)
  }
})

test.each([
  ['Transfer Status', 'SUCCESS'],
  ['response_code', '00'],
  ['error_code', 'NA'],
  ['Dr/Cr', 'CR'],
  ['type', 'P2M'],
  ['description', 'failed order 42'],
  ['remarks', 'failed twice'],
  ['code', '42'],
])('a column %s with %s says nothing else', async (column, value) => {
  const said = await saidBy(THREE, csvOf({ ...THREE.row, [column]: value }))
  expect(said).toBe(await saidBy(THREE, csvOf(THREE.row)))
})

test('a line of a debit is a debit', async () => {
  const of = (mark: string) => saidBy(THREE, csvOf({ ...THREE.row, amount: '-249.50', 'Dr/Cr': mark }))
  expect(await of('DR')).toMatch(/^\[/)
  expect(await of('CR')).toContain('Dr/Cr')
})

test.each([
  ['PAID', 'Transfer Status', 'FAILED', false],
  ['PAID', 'payout_status', 'SUCCESS', true],
  ['PAID', 'response_code', 'U30', false],
  ['PAID', 'failure_reason', 'no such account', false],
  ['FAILED', 'Transfer Status', 'SUCCESS', false],
  ['FAILED', 'Transfer Status', 'FAILED', true],
  ['FAILED', 'response_code', '00', false],
  ['FAILED', 'response_code', 'U30', true],
  ['FAILED', 'success', 'true', false],
])('a response %s beside %s %s is read: %s', async (status, column, value, isRead) => {
  const said = await saidBy(RESPONSES, csvOf({ ...RESPONSE.row, status, [column]: value }))
  if (isRead) expect(said).toContain(`"outcome":"${status === 'PAID' ? 'done' : 'failed'}"`)
  else expect(said).toMatch(new RegExp(`^problem: line 1: ${column} `))
})

test('a line of a statement has the side that its column says', async () => {
  const read = (mark: string, amount: string) =>
    readStatement(
      sourceOf(`date,amount,balance,Dr/Cr,type\n2026-11-26,${amount},10.00,${mark},REVERSAL\n`),
      undefined,
      DAYS,
    )
  await expect(read('CR', '10.00')).resolves.toMatchObject({ lines: 1 })
  await expect(read('DR', '-10.00')).resolves.toMatchObject({ lines: 1 })
  await expect(read('DR', '10.00')).rejects.toThrow(/line 1: Dr\/Cr/)
})
