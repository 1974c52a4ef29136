import { fail } from '@svc/contract/errors'
import { reverseJournal } from '@svc/core/cards/account/reverse-posting'
import { findJournal, isReversible, type JournalWithLegs } from '@svc/core/ledger/reverse-journal'
import { rfc3339 } from '@svc/kernel/time'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { auditOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  maybe,
  reasonText,
  record,
  text,
} from '../console-schema.ts'
import { TransferRecord, transferToWire } from './ledger-operations.ts'

const JournalDetail = record('JournalDetail', {
  journalId: text(),
  tenantId: text(),
  kind: text('What happened, such as `upi_credit`'),
  effectiveDate: text('Business day that it belongs to in the books, `YYYY-MM-DD`'),
  reference: maybe('What the outside calls it, such as the bank’s reference'),
  reason: maybe(),
  reverses: maybe('The journal that it takes back'),
  reversedBy: maybe('The journal that takes it back'),
  isReversible: Type.Boolean({ description: 'Whether a person may take it back' }),
  createdOn: instant,
  legs: Type.Array(TransferRecord, {
    description: 'In their order; each debits one account and credits another',
  }),
})

function toWire(found: JournalWithLegs, timeZone: string) {
  const { journal, legs, reversedBy } = found
  const { at, effectiveDate, journalId, kind, reason, reference, reverses, tenantId } = journal
  return {
    journalId,
    tenantId,
    kind,
    effectiveDate,
    reference: reference ?? undefined,
    reason: reason ?? undefined,
    reverses: reverses ?? undefined,
    reversedBy: reversedBy ?? undefined,
    isReversible: isReversible(found),
    createdOn: rfc3339(at, timeZone),
    legs: legs.map((leg) => transferToWire({ ...leg, effectiveDate, reference }, timeZone)),
  }
}

const find = async ({ database }: Pick<Services, 'database'>, journalId: string): Promise<JournalWithLegs> =>
  (await database.operate((tx) => findJournal(tx, journalId))) ?? fail('journal_not_found')

export const showJournal = query({
  ...consoleOperation,
  id: 'console.showJournal',
  method: 'GET',
  path: `${CONSOLE_API}/ledger/journals/:journalId`,
  tag: 'Ledger',
  summary: 'Show journal with its legs',
  permission: 'view',
  params: idParam('journalId'),
  result: JournalDetail,
  errors: ['journal_not_found'],
  mount(services) {
    return async ({ params: { journalId } }) => ({
      body: JSON.stringify(toWire(await find(services, journalId), services.config.BUSINESS_TIME_ZONE)),
    })
  },
})

export const reverseJournalInConsole = query({
  ...consoleOperation,
  id: 'console.reverseJournal',
  stepUp: true,
  method: 'POST',
  path: `${CONSOLE_API}/ledger/journals/:journalId/reverse`,
  tag: 'Ledger',
  summary: 'Reverse a journal that an operator posted',
  description:
    'A mirrored journal takes it back, once; a repeat returns it. Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202.',
  permission: 'finance',
  params: idParam('journalId'),
  body: closed({
    reason: reasonText('Why; it is in the journal'),
  }),
  result: JournalDetail,
  accepted: ApprovalRecord,
  errors: [...reverseJournal.approval.failures, 'approval_open'],
  mount(services) {
    const { run } = services.commands.open(reverseJournal)
    const timeZone = services.config.BUSINESS_TIME_ZONE
    return async (input) => {
      const { journalId } = input.params
      const { reason } = input.body
      const { tenantId } = (await find(services, journalId)).journal
      const details = { action: 'journal.reversed', target: journalId, details: { reason } }
      const outcome = await run({ tenantId, journalId, reason }, auditOf(tenantId, input, details))
      return wireOrWait(outcome, timeZone, async ({ reversalId }) =>
        toWire(await find(services, reversalId), timeZone),
      )
    }
  },
})
