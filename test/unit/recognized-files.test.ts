import { recognizeFile } from '@svc/core/bank-files/recognize-file'
import { SETTLEMENT_FORMATS } from '@svc/core/bank-files/shipped-formats'
import { expect, test } from 'vitest'
import { sourceOf } from '../harness/bank-files.ts'
import { STATEMENTS } from '../harness/bank-statements.ts'

const LINES = [{ date: '2026-11-26', paise: 5_000, reference: 'N1' }]
const PAYOUT = `pyo_${'0'.repeat(26)}`
const REFUND = `rfd_${'1'.repeat(26)}`

/** A heading with every column that a format must have. */
const headingOf = (name: string): string => {
  const { columns, expand = [], check = {} } = SETTLEMENT_FORMATS[name]!
  const own = Object.values(columns).map((each) => (Array.isArray(each) ? each[0] : each))
  const others = expand.flatMap(({ column, less }) => [column, ...(less ? [less] : [])])
  const checked = Object.values(check).flatMap((equation) => equation.match(/[a-z_]+/g) ?? [])
  return [...new Set([...own, ...others, ...checked])].join(',')
}

test.each(Object.keys(STATEMENTS) as (keyof typeof STATEMENTS)[])(
  'a statement written as %s is recognized as one',
  async (format) => {
    expect(await recognizeFile(sourceOf(STATEMENTS[format](0, LINES)))).toEqual({ kind: 'statement' })
  },
)

test.each(Object.keys(SETTLEMENT_FORMATS))(
  'a settlement written as %s is recognized by its heading',
  async (format) => {
    const found = await recognizeFile(sourceOf(`${headingOf(format)}\n`))
    expect(found).toEqual({ kind: 'settlement', rail: 'upi', format })
  },
)

test.each([
  ['payouts', `payoutId,status,utr\n${PAYOUT},PAID,X\n`],
  ['payouts', `Sr;Cust Ref;Result\n1;${PAYOUT};OK\n`],
  ['refunds', `refundId,status\n${REFUND},REFUNDED\n`],
  ['refunds', `Ref|Result\n${REFUND}|OK\n`],
] as const)('a response to %s is recognized by its heading, or by our ids in it: %j', async (kind, text) => {
  expect(await recognizeFile(sourceOf(text))).toEqual({ kind })
})

test('a settlement that names one of our refunds is still a settlement, and kinds of lines say whose transfers they are', async () => {
  const heading = 'batchUtr,valueDate,netAmount,kind,reference,amount,date'
  const of = (kind: string) =>
    recognizeFile(sourceOf(`${heading}\nN1,2026-11-27,1,${kind},${REFUND},1,2026-11-26\n`))
  expect(await of('refund')).toMatchObject({ kind: 'settlement', rail: 'upi' })
  expect(await of('dispute')).toMatchObject({ kind: 'settlement', rail: 'upi' })
  expect(await of('CAPTURE')).toMatchObject({ kind: 'settlement', rail: 'card' })
})

test('what is like no file of a bank is refused in words', async () => {
  await expect(recognizeFile(sourceOf('a,b\n1,2\n'))).rejects.toThrow('like none that we know')
  await expect(recognizeFile(sourceOf('%PDF-1.7'))).rejects.toThrow('PDF')
})
