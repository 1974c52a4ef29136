import { fail } from '@svc/contract/errors'
import { onNormalSide } from '@svc/core/ledger/books'
import { ACCOUNT_KINDS, type AccountKind, kindOf } from '@svc/core/ledger/chart-of-accounts'
import { OpenBalanceRecord, openToWire } from '@svc/core/ledger/settlement'
import { ledgerTransfers } from '@svc/core/ledger/transfers'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import type { RowOf } from '@svc/platform/db/table'
import type { Filters } from '@svc/server/http/list'
import type { Key } from '@svc/server/http/list-cursor'
import { query } from '@svc/server/http/operation'
import {
  choiceFilter,
  exactFilter,
  findRow,
  listOf,
  type Resource,
  readRows,
  recordOf,
  showOf,
  tenantNameOf,
  toRecord,
} from '@svc/server/http/resource'
import { Type } from 'typebox'
import { actorOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  maybe,
  maybeInstant,
  record,
  text,
} from '../console-schema.ts'
import type { ConsoleServices } from '../console-services.ts'
import { latestReconciliation } from './reconciliations.ts'

const TAG = 'Ledger'
const PATH = `${CONSOLE_API}/ledger`

const units = text('Rupees with two decimals, or whole coins, by `unit`')
const LedgerAccountRecord = record('LedgerAccount', {
  accountId: text('What it is for, a colon, and whose it is'),
  tenantId: text(),
  kind: Type.Enum(ACCOUNT_KINDS),
  title: text('The kind in words'),
  meaning: text('What the account is for'),
  normalSide: Type.Enum(['debit', 'credit'], { description: 'The side on which its balance grows' }),
  unit: Type.Enum(['INR', 'COIN']),
  balance: text(
    'On the normal side, in rupees with two decimals or whole coins, by `unit`; below zero on the other side',
  ),
  floor: Type.Optional(units),
  open: Type.Optional(OpenBalanceRecord),
  createdOn: instant,
})

interface AccountRow {
  account_id: string
  tenant_id: string
  kind: AccountKind
  unit: 'INR' | 'COIN'
  balance: bigint
  floor: bigint | null
  created_at: Date
  tenantName: string | null
}

const amountText = (amount: bigint, unit: string): string =>
  unit === 'INR' ? formatRupees(amount) : String(amount)

const accountToWire = (row: AccountRow, timeZone: string) => ({
  accountId: row.account_id,
  tenantId: row.tenant_id,
  kind: row.kind,
  title: kindOf(row.kind).title,
  meaning: kindOf(row.kind).meaning,
  normalSide: kindOf(row.kind).side,
  unit: row.unit,
  balance: amountText(onNormalSide(row.kind, row.balance), row.unit),
  floor: row.floor === null ? undefined : amountText(row.floor, row.unit),
  open: openToWire(row.kind, row.balance),
  createdOn: rfc3339(row.created_at, timeZone),
})

/** The first text, in bytes, that does not begin so: the end of a range in an index. */
const afterAll = (begin: string): string => `${begin}\u{10FFFF}`
const addRange = (filters: Filters, begin: string): void =>
  void filters.add('a.account_id >= ?', begin).add('a.account_id < ?', afterAll(begin))

const BY_ID: readonly Key[] = [{ sql: 'a.account_id', type: 'text' }]

/** Accounts of the books, which are named by what they are for and whose they are. */
const ledgerAccount = {
  titles: { operator: 'LedgerAccount' },
  record: { schema: LedgerAccountRecord, toWire: accountToWire },
  from: {
    columns: 'a.account_id, a.tenant_id, a.kind, a.unit, a.balance, a.floor, a.created_at',
    table: 'ledger_accounts a',
    alias: 'a',
  },
  operatorFrom: tenantNameOf('a.tenant_id'),
  tenant: 'a.tenant_id',
  keys: BY_ID,
  sorts: { accountId: BY_ID },
  usualSort: 'accountId',
  fields: {
    tenantName: { schema: maybe('Of the merchant or the partner'), of: ({ tenantName }) => tenantName },
  },
  filters: {
    q: { schema: exactFilter('Begin of the account id', 128), sql: addRange },
    kind: { schema: choiceFilter(ACCOUNT_KINDS), sql: (filters, kind) => addRange(filters, `${kind}:`) },
    ownerId: {
      schema: exactFilter('Accounts of this merchant, partner, card account, card or user'),
      sql: (filters, ownerId) =>
        filters.add(
          'a.account_id = any (?::text[])',
          ACCOUNT_KINDS.map((one) => `${one}:${ownerId}`),
        ),
    },
  },
} satisfies Resource<AccountRow>

const missing = () => fail('ledger_account_not_found')

interface TransferRow extends Omit<RowOf<typeof ledgerTransfers>, 'leg'> {
  readonly effectiveDate: string
  readonly reference: string | null
}

/** What moves between two accounts of the books: a leg of a journal. */
const transfer = {
  titles: { operator: 'Transfer' },
  from: {
    columns: `${ledgerTransfers.columns}, j.effective_date::text as "effectiveDate", j.reference`,
    table: 'ledger_transfers t',
    alias: 't',
    joins: 'join journals j on j.tenant_id = t.tenant_id and j.journal_id = t.journal_id',
  },
  tenant: 't.tenant_id',
  keys: [{ sql: 't.transfer_id', type: 'text' }],
  fields: {
    transferId: { schema: text(), of: ({ transferId }) => transferId },
    journalId: { schema: text('The journal that it is a leg of'), of: ({ journalId }) => journalId },
    kind: { schema: text('Why it moved, such as `upi_credit`'), of: ({ kind }) => kind },
    tenantId: { schema: text(), of: ({ tenantId }) => tenantId },
    debitAccountId: { schema: text(), of: ({ debitAccountId }) => debitAccountId },
    creditAccountId: { schema: text(), of: ({ creditAccountId }) => creditAccountId },
    unit: { schema: Type.Enum(['INR', 'COIN']), of: ({ unit }) => unit },
    amount: { schema: units, of: ({ amount, unit }) => amountText(amount, unit) },
    objectId: {
      schema: text('The payment, card or lot of coins that it belongs to'),
      of: ({ objectId }) => objectId,
    },
    effectiveDate: {
      schema: text('Business day of its journal, `YYYY-MM-DD`'),
      of: ({ effectiveDate }) => effectiveDate,
    },
    reference: { schema: maybe('What the outside calls its journal'), of: ({ reference }) => reference },
    createdOn: { schema: instant, of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone) },
  },
  filters: {
    accountId: {
      schema: exactFilter('Of this account', 128),
      sql(filters, accountId) {
        const account = filters.param(accountId)
        // Either side has its own index in this order.
        filters.branches = [`t.debit_account_id = ${account}`, `t.credit_account_id = ${account}`]
      },
    },
  },
} satisfies Resource<TransferRow>

export const TransferRecord = recordOf(transfer, 'operator')
export const transferToWire = toRecord<TransferRow>(transfer, 'operator')

const OPERATOR = { reader: 'operator' } as const

export async function newestTransfers(tx: Tx, accountId: string, most: number, timeZone: string) {
  const wanted = { accountId, limit: String(most), uncounted: true }
  const { data } = await readRows<TransferRow>(tx, transfer, OPERATOR, wanted)
  return data.map((row) => transferToWire(row, timeZone))
}

export const listLedgerAccounts = listOf<AccountRow>(ledgerAccount, {
  ...consoleOperation,
  id: 'console.listLedgerAccounts',
  path: `${PATH}/accounts`,
  tag: TAG,
  summary: 'List ledger accounts',
  permission: 'view',
})

export const showLedgerAccount = showOf<AccountRow>(ledgerAccount, {
  ...consoleOperation,
  id: 'console.showLedgerAccount',
  path: `${PATH}/accounts/:accountId`,
  tag: TAG,
  summary: 'Show ledger account',
  permission: 'view',
  params: idParam('accountId'),
  errors: ['ledger_account_not_found'],
  notFound: missing,
})

export const listTransfers = listOf<TransferRow>(transfer, {
  ...consoleOperation,
  id: 'console.listTransfers',
  path: `${PATH}/accounts/:accountId/transfers`,
  tag: TAG,
  summary: 'List transfers of a ledger account',
  permission: 'view',
  params: idParam('accountId'),
  errors: ['ledger_account_not_found'],
  async within(tx, scope, { accountId = '' }) {
    if (!(await findRow<AccountRow>(tx, ledgerAccount, scope, accountId))) missing()
  },
})

const ReconciliationRecord = record('Reconciliation', {
  state: Type.Enum(['balanced', 'differences', 'failed', 'unknown'], {
    description: '`unknown`: never run; `failed`: the last run broke off, see `problem`',
  }),
  running: Type.Boolean(),
  startedOn: maybeInstant,
  tookMs: Type.Optional(Type.Integer()),
  startedBy: Type.Optional(Type.String({ description: 'Operator, or `service` for the background' })),
  problem: Type.Optional(Type.String()),
  accounts: Type.Integer(),
  transfers: Type.Integer(),
  checks: Type.Array(
    record('ReconciliationCheck', {
      check: text(),
      ok: Type.Boolean(),
      differences: Type.Array(closed({ subject: text(), detail: text() }), { description: 'At most 100' }),
    }),
  ),
})

export const showReconciliation = query({
  ...consoleOperation,
  id: 'console.showReconciliation',
  method: 'GET',
  path: `${PATH}/reconciliation`,
  tag: TAG,
  summary: 'Show the latest reconciliation',
  permission: 'view',
  result: ReconciliationRecord,
  errors: [],
  mount(services: ConsoleServices) {
    return async () => ({ body: JSON.stringify(await latestReconciliation(services)) })
  },
})

export const runReconciliation = query({
  ...consoleOperation,
  id: 'console.runReconciliation',
  method: 'POST',
  path: `${PATH}/reconciliation`,
  tag: TAG,
  summary: 'Reconcile now',
  description: 'Begins in the background; ask for the result while `running`.',
  permission: 'verify',
  result: ReconciliationRecord,
  errors: [],
  mount(services: ConsoleServices) {
    return async ({ caller }) => {
      await services.ledgerChecks.start(actorOf(caller))
      return { body: JSON.stringify(await latestReconciliation(services)) }
    }
  },
})
