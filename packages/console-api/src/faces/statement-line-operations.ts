import { transfersOfAmount } from '@svc/core/payments/transfers-of-amount'
import { assignLine, businessToday, matchLine, unmatchLine } from '@svc/core/statements/change-line'
import { matchCandidates } from '@svc/core/statements/match-candidates'
import type { MatchTools } from '@svc/core/statements/match-lines'
import { resolveLine } from '@svc/core/statements/resolve-line'
import { RESOLUTIONS, type StatementLine, statementLineToWire } from '@svc/core/statements/statement-line'
import type { Tx } from '@svc/platform/db/database'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { FreeText } from '@svc/server/http/fields'
import { query, type Services } from '@svc/server/http/operation'
import { StatementLineRecord } from '@svc/server/statements/statement-lines'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  reasonText,
  record,
  text,
} from '../console-schema.ts'

const PATH = `${CONSOLE_API}/statement-lines/:lineId`

/** What all operations on a line share. */
const ofLine = {
  ...consoleOperation,
  tag: 'Bank statements',
  permission: 'finance',
  params: idParam('lineId'),
} as const
const changed = { ...ofLine, method: 'POST', stepUp: true, result: StatementLineRecord } as const

const todayOf = ({ clock, config }: Services): string => businessToday(clock.now(), config.BUSINESS_TIME_ZONE)
const toolsOf = ({ clock, config, random }: Services): MatchTools => ({
  random,
  nowMs: () => clock.now(),
  timeZone: config.BUSINESS_TIME_ZONE,
})

type Input = Parameters<typeof asOperator>[1]

/** Changes a line in the name of the caller, and returns it. */
async function changing(
  services: Services,
  input: Input,
  work: (tx: Tx, by: string) => Promise<StatementLine>,
) {
  const line = await asOperator(services, input, (tx) => work(tx, actorOf(input.caller)))
  return { body: JSON.stringify(statementLineToWire(line, todayOf(services))) }
}

export const showMatchCandidates = query({
  ...ofLine,
  id: 'console.showMatchCandidates',
  method: 'GET',
  path: `${PATH}/candidates`,
  permission: 'view',
  summary: 'Show what a statement line may be',
  description: 'Transfers and payouts of the same amount within ten days that no line has.',
  result: closed({
    data: Type.Array(
      record('MatchCandidate', {
        documentId: text(),
        kind: Type.Enum(['settlement', 'payout']),
        name: text('The reference of the transfer, or the merchant of the payout'),
        date: text('`YYYY-MM-DD`'),
      }),
    ),
  }),
  errors: ['statement_line_not_found'],
  mount({ database }) {
    return async ({ params: { lineId } }) => ({
      body: JSON.stringify({
        data: await database.operate((tx) => matchCandidates(tx, lineId, transfersOfAmount)),
      }),
    })
  },
})

export const matchStatementLine = query({
  ...changed,
  id: 'console.matchStatementLine',
  path: `${PATH}/match`,
  summary: 'Say which movement a statement line is',
  description: 'An amount that is another one makes the line differ. A repeat changes nothing.',
  body: closed({
    documentId: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The transfer, payout, run, refund or journal',
    }),
    reason: reasonText(),
  }),
  errors: ['statement_line_not_found', 'statement_line_explained', 'movement_not_found', 'movement_has_line'],
  mount(services) {
    return (input) =>
      changing(services, input, (tx, by) =>
        matchLine(tx, { ...input.params, ...input.body, by }, toolsOf(services)),
      )
  },
})

export const unmatchStatementLine = query({
  ...changed,
  id: 'console.unmatchStatementLine',
  path: `${PATH}/unmatch`,
  summary: 'Take the match of a statement line back',
  description: 'With what the match had posted.',
  body: closed({ reason: reasonText() }),
  errors: ['statement_line_not_found', 'statement_line_explained', 'statement_line_not_matched'],
  mount(services) {
    return (input) =>
      changing(services, input, (tx, by) =>
        unmatchLine(tx, { ...input.params, ...input.body, by }, toolsOf(services)),
      )
  },
})

export const assignStatementLine = query({
  ...changed,
  id: 'console.assignStatementLine',
  path: `${PATH}/owner`,
  summary: 'Name who is to find out what a statement line is',
  body: closed({ owner: FreeText(100, 'Of the person') }),
  errors: ['statement_line_not_found'],
  mount(services) {
    return (input) =>
      changing(services, input, (tx, by) => assignLine(tx, { ...input.params, ...input.body, by }))
  },
})

export const resolveStatementLine = query({
  ...changed,
  id: 'console.resolveStatementLine',
  path: `${PATH}/resolve`,
  summary: 'Post what a statement line is that fits nothing',
  description:
    'On the day of the line. A repeat posts nothing. Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202.',
  body: closed({
    as: Type.Enum([...RESOLUTIONS], {
      description: 'What it is; `exception` where the bank does not say',
    }),
    reason: reasonText(),
  }),
  accepted: ApprovalRecord,
  errors: [...resolveLine.approval.failures, 'approval_open'],
  mount(services) {
    const { run } = services.commands.open(resolveLine)
    return async ({ body: { as, reason }, caller, params: { lineId }, requestId }) => {
      const act = { action: 'statement_line.resolved', target: lineId, details: { as, reason } }
      const resolved = await run({ lineId, as, reason }, { ...act, actor: actorOf(caller), requestId })
      return wireOrWait(resolved, services.config.BUSINESS_TIME_ZONE, ({ line }) =>
        statementLineToWire(line, todayOf(services)),
      )
    }
  },
})
