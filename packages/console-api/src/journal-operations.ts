import { fail } from '@svc/contract/errors'
import { journals } from '@svc/core/ledger/journals'
import { ledgerTransfers } from '@svc/core/ledger/transfers'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { RowOf } from '@svc/platform/db/table'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, consoleOperation, idParam, instant, maybe, record, text } from './console-schema.ts'
import { TransferRecord, transferToWire } from './ledger-operations.ts'

type Journal = RowOf<typeof journals>
type Leg = RowOf<typeof ledgerTransfers>

// The tenant is first in the key: one lookup for each tenant costs less than another index that every payment writes.
const FIND = statement<Journal & { readonly reversedBy: string | null }>(
  'console_journal',
  `select ${journals.columns}, (
     select r.journal_id from journals r where r.tenant_id = j.tenant_id and r.reverses = j.journal_id) as "reversedBy"
   from tenants t cross join lateral (
     select * from journals j where j.tenant_id = t.tenant_id and j.journal_id = $1 offset 0) j`,
)
const LEGS = statement<Leg>(
  'console_journal_legs',
  `select ${ledgerTransfers.columns} from ledger_transfers t where t.tenant_id = $1 and t.journal_id = $2 order by t.leg`,
)

const JournalDetail = record('JournalDetail', {
  journalId: text(),
  tenantId: text(),
  kind: text('What happened, such as `upi_credit`'),
  effectiveDate: text('Business day that it belongs to in the books, `YYYY-MM-DD`'),
  reference: maybe('What the outside calls it, such as the bank’s reference'),
  reason: maybe(),
  reverses: maybe('The journal that it takes back'),
  reversedBy: maybe('The journal that takes it back'),
  createdOn: instant,
  legs: Type.Array(TransferRecord, {
    description: 'In their order; each debits one account and credits another',
  }),
})

async function readJournal(tx: Tx, journalId: string, timeZone: string) {
  const [journal] = await tx.query(FIND, [journalId])
  if (!journal) return fail('journal_not_found')
  const legs = await tx.query(LEGS, [journal.tenantId, journalId])
  const { at, effectiveDate, kind, reason, reference, reversedBy, reverses, tenantId } = journal
  return {
    journalId,
    tenantId,
    kind,
    effectiveDate,
    reference: reference ?? undefined,
    reason: reason ?? undefined,
    reverses: reverses ?? undefined,
    reversedBy: reversedBy ?? undefined,
    createdOn: rfc3339(at, timeZone),
    legs: legs.map((leg) => transferToWire({ ...leg, effectiveDate, reference }, timeZone)),
  }
}

export const showJournal = query({
  ...consoleOperation,
  id: 'console.showJournal',
  method: 'GET',
  path: `${CONSOLE_API}/ledger/journals/:journalId`,
  tag: 'Ledger',
  summary: 'Show journal with its legs',
  role: 'viewer',
  params: idParam('journalId'),
  result: JournalDetail,
  errors: ['journal_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { journalId } }) => ({
      body: JSON.stringify(await database.operate((tx) => readJournal(tx, journalId, timeZone))),
    })
  },
})
