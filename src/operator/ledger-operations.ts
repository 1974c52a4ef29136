import { Type } from 'typebox'
import { query } from '../platform/http/operation.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  maybeInstant,
  oneOf,
  record,
  text,
} from './console-schema.ts'
import { later } from './later.ts'

const TAG = 'Ledger'
const PATH = `${CONSOLE_API}/ledger`

const units = text('Rupees with two decimals, or whole coins, by `unit`')
const LedgerAccountRecord = record('LedgerAccount', {
  accountId: text('What it is for, a colon, and whose it is'),
  tenantId: text(),
  kind: text(),
  unit: Type.Enum(['INR', 'COIN']),
  balance: units,
  floor: Type.Optional(units),
  createdOn: instant,
})

export const TransferRecord = record('Transfer', {
  transferId: text(),
  kind: text('Why it moved, such as `upi_credit`'),
  tenantId: text(),
  debitAccountId: text(),
  creditAccountId: text(),
  unit: Type.Enum(['INR', 'COIN']),
  amount: units,
  objectId: text('The payment, card or lot of coins that it belongs to'),
  createdOn: instant,
})

export const LEDGER_KINDS = [
  'upi_clearing',
  'payable',
  'upi_refunds',
  'suspense',
  'funding_clearing',
  'card_funding',
  'card',
  'card_settlement',
  'coins_issued',
  'coins',
  'coins_redeemed',
  'coins_expired',
] as const

export const listLedgerAccounts = query({
  ...consoleOperation,
  id: 'listLedgerAccounts',
  method: 'GET',
  path: `${PATH}/accounts`,
  tag: TAG,
  summary: 'List ledger accounts',
  role: 'viewer',
  query: listQuery(['accountId'], {
    q: exact('Begin of the account id', 128),
    kind: oneOf(LEDGER_KINDS, 'Only these'),
    ownerId: exact('Accounts of this merchant, partner, card account, card or user'),
  }),
  result: listOf(LedgerAccountRecord),
  errors: [],
  mount: later,
})

export const showLedgerAccount = query({
  ...consoleOperation,
  id: 'showLedgerAccount',
  method: 'GET',
  path: `${PATH}/accounts/:accountId`,
  tag: TAG,
  summary: 'Show ledger account',
  role: 'viewer',
  params: idParam('accountId'),
  result: LedgerAccountRecord,
  errors: ['ledger_account_not_found'],
  mount: later,
})

export const listTransfers = query({
  ...consoleOperation,
  id: 'listTransfers',
  method: 'GET',
  path: `${PATH}/accounts/:accountId/transfers`,
  tag: TAG,
  summary: 'List transfers of a ledger account',
  role: 'viewer',
  params: idParam('accountId'),
  query: listQuery(['-created'], {}),
  result: listOf(TransferRecord),
  errors: ['ledger_account_not_found'],
  mount: later,
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
  id: 'showReconciliation',
  method: 'GET',
  path: `${PATH}/reconciliation`,
  tag: TAG,
  summary: 'Show the latest reconciliation',
  role: 'viewer',
  result: ReconciliationRecord,
  errors: [],
  mount: later,
})

export const runReconciliation = query({
  ...consoleOperation,
  id: 'runReconciliation',
  method: 'POST',
  path: `${PATH}/reconciliation`,
  tag: TAG,
  summary: 'Reconcile now',
  description: 'Begins in the background; ask for the result while `running`.',
  role: 'operator',
  result: ReconciliationRecord,
  errors: [],
  mount: later,
})
