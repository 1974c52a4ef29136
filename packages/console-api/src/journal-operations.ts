import { fail } from '@svc/contract/errors'
import {
  findJournals,
  type JournalWithLegs,
  requireReversible,
  reverseJournal,
} from '@svc/core/ledger/reverse-journal'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { ApprovalRecord, waitsForApproval } from './approval-operations.ts'
import { actorOf, auditOf } from './as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, instant, maybe, record, text } from './console-schema.ts'
import { askApproval, reversalPosting } from './postings.ts'

const TAG = 'Ledger'
const PATH = `${CONSOLE_API}/tenants/:tenantId/journals/:journalId`

const JournalParams = Type.Object(
  { tenantId: Type.String({ maxLength: 128 }), journalId: Type.String({ maxLength: 128 }) },
  { additionalProperties: false },
)
const JournalRecord = record('Journal', {
  tenantId: text(),
  journalId: text(),
  kind: text(),
  effectiveDate: text('Business day, `YYYY-MM-DD`'),
  reference: maybe('What the outside calls it'),
  reason: maybe(),
  reverses: maybe('The journal that it takes back'),
  reversedBy: maybe('The journal that takes it back'),
  at: instant,
  legs: Type.Array(
    Type.Object(
      {
        debitAccountId: text(),
        creditAccountId: text(),
        amount: text('Rupees with two decimals, or coins'),
        unit: Type.Enum(['INR', 'COIN']),
        objectId: text('The payment, card or card account that it belongs to'),
      },
      { additionalProperties: false },
    ),
  ),
})

function toWire({ journal, legs, reversedBy }: JournalWithLegs, timeZone: string) {
  const { tenantId, journalId, kind, effectiveDate, reference, reason, reverses, at } = journal
  return {
    tenantId,
    journalId,
    kind,
    effectiveDate,
    ...(reference !== null && { reference }),
    ...(reason !== null && { reason }),
    ...(reverses !== null && { reverses }),
    ...(reversedBy !== null && { reversedBy }),
    at: rfc3339(at, timeZone),
    legs: legs.map(({ debitAccountId, creditAccountId, amount, unit, objectId }) => ({
      debitAccountId,
      creditAccountId,
      amount: unit === 'INR' ? formatRupees(amount) : String(amount),
      unit,
      objectId,
    })),
  }
}

export const getJournal = query({
  ...consoleOperation,
  id: 'console.getJournal',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'Get a journal with its legs',
  role: 'viewer',
  params: JournalParams,
  result: JournalRecord,
  errors: ['journal_not_found'],
  mount({ config, database }) {
    return async ({ params }) => {
      const [found] = await database.operate((tx) => findJournals(tx, [params]))
      return { body: JSON.stringify(toWire(found ?? fail('journal_not_found'), config.BUSINESS_TIME_ZONE)) }
    }
  },
})

export const reverseJournalInConsole = query({
  ...consoleOperation,
  id: 'console.reverseJournal',
  method: 'POST',
  path: `${PATH}/reverse`,
  tag: TAG,
  summary: 'Reverse a journal that an operator posted',
  description:
    'A mirrored journal takes it back, once; a repeat returns it. Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202.',
  role: 'operator',
  params: JournalParams,
  body: closed({
    reason: Type.String({ minLength: 1, maxLength: 255, description: 'Why; it is in the journal' }),
  }),
  result: JournalRecord,
  accepted: ApprovalRecord,
  errors: ['journal_not_found', 'journal_not_reversible', 'approval_open'],
  mount(services) {
    const { commands, config, database } = services
    const { run } = commands.open(reverseJournal)
    return async (input) => {
      const { tenantId, journalId } = input.params
      const { reason } = input.body
      const find = async (id: string) =>
        (await database.operate((tx) => findJournals(tx, [{ tenantId, journalId: id }])))[0] ??
        fail('journal_not_found')
      const found = await find(journalId)
      if (found.reversedBy === null) {
        requireReversible(found.journal)
        const posting = reversalPosting(found, reason)
        const by = { actor: actorOf(input.caller), requestId: input.requestId }
        const approval = await askApproval(services, posting, by)
        if (approval) return waitsForApproval(approval, services)
      }
      const audit = auditOf(tenantId, input, {
        action: 'journal.reversed',
        target: journalId,
        details: { reason },
      })
      const { reversalId } = await run({ tenantId, journalId, reason }, audit)
      return { body: JSON.stringify(toWire(await find(reversalId), config.BUSINESS_TIME_ZONE)) }
    }
  },
})
