import type { OpeningLine } from '../ledger/import-opening-balances.ts'
import type { FieldsOf, FileFormat } from './file-format.ts'
import type { LineReader } from './line-reader.ts'

export const OPENING_FIELDS: FieldsOf = {
  required: ['tenantId', 'account', 'amount', 'effectiveDate'],
  optional: [],
}

/** Our own file of opening balances. */
export const OPENING_FORMAT: FileFormat = {
  columns: { tenantId: 'tenantId', account: 'account', amount: 'amount', effectiveDate: 'effectiveDate' },
}

/** Below it, sums of money stay exact wherever they are added up. */
const AMOUNT_MAX_PAISE = 1_000_000_000_000_00n

/** Reads lines of opening balances (decision R14). */
export function readOpeningLine(line: LineReader): readonly OpeningLine[] {
  const tenantId = line.word('tenantId')
  const account = line.word('account')
  const amountPaise = line.amount('amount')
  const effectiveDate = line.day('effectiveDate', 0)
  line.guard({ of: 'transfer', outcome: 'success', hasTexts: true })
  if (account !== undefined && account !== 'payable' && !account.startsWith('acc_'))
    line.problem(line.columnOf('account'), 'must be payable, or the id of a card account')
  if (amountPaise === 0n || (amountPaise ?? 0n) > AMOUNT_MAX_PAISE)
    line.problem(line.columnOf('amount'), 'must be rupees above 0, with at most two decimals')
  if (!tenantId || !account || !amountPaise || !effectiveDate || line.problems.length > 0) return []
  const of = { line: line.line, tenantId, amountPaise, effectiveDate }
  return account === 'payable'
    ? [{ ...of, kind: 'payable', ownerId: tenantId }]
    : [{ ...of, kind: 'card_funding', ownerId: account }]
}
