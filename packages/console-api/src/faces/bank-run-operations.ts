import { fail } from '@svc/contract/errors'
import { idMaker } from '@svc/contract/id-kinds'
import { problemsToWire } from '@svc/core/bank-files/read-bank-file'
import { readingDays } from '@svc/core/bank-files/reading-days'
import {
  type AnyBankRunSteps,
  type AnyBankRuns,
  bankFileOf,
  columnsOf,
  sendRun,
  waitingRows,
} from '@svc/core/payments/bank-runs/bank-run'
import { PAYOUT_RUNS, PAYOUT_STEPS } from '@svc/core/payments/bank-runs/payout-runs'
import { REFUND_RUNS, REFUND_STEPS } from '@svc/core/payments/bank-runs/refund-runs'
import {
  formatOf,
  previewed,
  type ResponseResult,
  readResponses,
  recorded,
  usualWords,
} from '@svc/core/payments/bank-runs/responses'
import { CSV_MEDIA_TYPE } from '@svc/kernel/csv'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import { query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { actorOf, asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  instant,
  maybe,
  oneOf,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'
import { failFile, fileBody, fileOf, keepBody, namedFile, refusingFile } from './bank-file-body.ts'

const TAG = 'Bank files'
const PATH = `${CONSOLE_API}/bank-runs/:kind`
const RUNS_SHOWN = 100
const LISTED_MAX = 1_000

const KINDS: Readonly<Record<string, AnyBankRuns>> = { payouts: PAYOUT_RUNS, refunds: REFUND_RUNS }
const kindParam = closed({ kind: Type.Enum(['payouts', 'refunds']) })
const ofFinance = { ...consoleOperation, tag: TAG, permission: 'finance', errors: [] } as const

const STEPS: Readonly<Record<string, AnyBankRunSteps>> = { payouts: PAYOUT_STEPS, refunds: REFUND_STEPS }

/** Of single payouts and refunds; in a file they are the results of lines. */
const STEP_FAILURES = [
  'moved',
  'notice_not_in_quarantine',
  'payout_not_found',
  'payout_same_person',
  'payout_state',
  'refund_closed',
  'refund_not_found',
  'utr_conflict',
] as const

const columnsQuery = closed({
  columns: maybe(
    'Columns in order, each a field or `field=HEADING`, separated by commas; each field by default',
  ),
})
/** The columns that are asked for. Throws `validation_failed`. */
const columnsIn = (of: AnyBankRuns, { columns }: { readonly columns?: string }) =>
  refusingFile(async () => columnsOf(of, columns))

const LeftOut = Type.Array(closed({ id: text(), problem: text() }), {
  description: 'What the file cannot contain, and why; at most 1,000',
})
const RunFields = {
  runId: text(),
  count: Type.Integer(),
  amount: rupeesText,
  sentOn: instant,
  open: Type.Integer({ description: 'Of how many the bank has not said anything final' }),
}

export const showBankRuns = query({
  ...ofFinance,
  id: 'console.showBankRuns',
  method: 'GET',
  path: PATH,
  summary: 'List files for the bank',
  description: 'What the next file would have, and the files that were made, the newest first.',
  params: kindParam,
  query: columnsQuery,
  result: record('BankRuns', {
    next: closed({ count: Type.Integer(), amount: rupeesText, leftOut: LeftOut }),
    fields: Type.Array(text(), { description: 'What a column of the file may be' }),
    words: Type.Record(text(), text(), {
      description: 'The outcomes that the bank may report, with the words that banks usually have for them',
    }),
    runs: Type.Array(record('BankRun', RunFields), { description: 'At most 100' }),
  }),
  errors: ['validation_failed'],
  mount({ config, database }) {
    return async ({ params: { kind }, query: asked }) => {
      const of = KINDS[kind]!
      const columns = await columnsIn(of, asked)
      const leftOut: { id: string; problem: string }[] = []
      let [count, amountPaise] = [0, 0n]
      for await (const { row, problem } of waitingRows(of, database, columns)) {
        if (problem !== undefined) leftOut.push({ id: of.idOf(row), problem })
        else {
          count++
          amountPaise += of.amountOf(row)
        }
      }
      const made = await database.operate((tx) => of.runs(tx, RUNS_SHOWN))
      const next = {
        count,
        amount: formatRupees(amountPaise as Paise),
        leftOut: leftOut.slice(0, LISTED_MAX),
      }
      const runs = made.map(({ amountPaise: sum, sentAt, ...run }) => ({
        ...run,
        amount: formatRupees(sum),
        sentOn: rfc3339(sentAt, config.BUSINESS_TIME_ZONE),
      }))
      return { body: JSON.stringify({ next, fields: Object.keys(of.fields), words: usualWords(of), runs }) }
    }
  },
})

export const sendBankRun = query({
  ...ofFinance,
  id: 'console.sendBankRun',
  stepUp: true,
  takesLong: true,
  method: 'POST',
  path: PATH,
  summary: 'Make the next file for the bank',
  description:
    'All that is approved is sent with it, in a new run: each payout or refund is in one run, so a repeat makes one of what was approved since. Get the file with its address.',
  params: kindParam,
  query: columnsQuery,
  errors: ['validation_failed', ...STEP_FAILURES],
  result: record('SentBankRun', {
    runId: text(),
    count: Type.Integer(),
    amount: rupeesText,
    leftOut: LeftOut,
  }),
  mount(services) {
    return async ({ caller, params: { kind }, query: asked, requestId }) => {
      const of = KINDS[kind]!
      const by = { actor: actorOf(caller), requestId }
      const { clock, commands, database, random } = services
      const tools = { commands, database, newId: idMaker(clock, random) }
      const columns = await columnsIn(of, asked)
      const { runId, leftOut } = await sendRun(of, STEPS[kind]!, { tools, columns }, by)
      const rows = await database.operate((tx) => of.ofRun(tx, runId))
      const amount = formatRupees(rows.reduce((sum: bigint, row) => sum + of.amountOf(row), 0n) as Paise)
      const sent = { runId, count: rows.length, amount, leftOut: leftOut.slice(0, LISTED_MAX) }
      return { body: JSON.stringify(sent) }
    }
  },
})

export const exportBankRun = query({
  ...ofFinance,
  id: 'console.exportBankRun',
  method: 'GET',
  path: `${PATH}/:runId/file.csv`,
  summary: 'Get a file for the bank',
  description: 'The same each time: what was sent in the run, with the accounts that it goes to.',
  params: closed({ ...kindParam.properties, runId: Type.String({ pattern: '^[a-z]{3}_[0-9a-z]{1,60}$' }) }),
  query: closed({
    columns: maybe(
      'Columns in order, each a field or `field=HEADING`, separated by commas; each field by default',
    ),
  }),
  result: Type.String({ description: 'CSV with a heading, UTF-8' }),
  produces: CSV_MEDIA_TYPE,
  errors: ['bank_run_not_found', 'validation_failed'],
  mount(services) {
    return async (input) => {
      const { kind, runId } = input.params
      const of = KINDS[kind]!
      const columns = await columnsIn(of, input.query)
      const rows = await asOperator(services, input, async (tx) => {
        const found = await of.ofRun(tx, runId)
        if (found.length === 0) fail('bank_run_not_found')
        const details = { count: found.length }
        recordAudit(tx, [{ action: `${of.name}_run.exported`, target: runId, details }])
        return found
      })
      return {
        headers: { 'content-type': `${CSV_MEDIA_TYPE}; charset=utf-8` },
        body: [...bankFileOf(of, rows, columns)].join(''),
      }
    }
  },
})

const ResponsesRecord = record('BankResponses', {
  lines: Type.Integer(),
  unreadable: Type.Integer(),
  results: Type.Array(
    closed({
      line: Type.Integer(),
      id: text(),
      result: text('The state that it has now, or would have; or why nothing is recorded'),
      isDone: Type.Boolean({ description: 'Whether nothing is left to do' }),
    }),
    { description: 'What needs a look comes first; at most 1,000' },
  ),
  done: Type.Integer({ description: 'Of how many nothing is left to do' }),
  problems: Type.Array(closed({ line: Type.Integer(), column: text(), reason: text() }), {
    description: 'Why lines cannot be read, at most 1,000',
  }),
})

const responseQuery = {
  id: maybe('The column of our reference; `payoutId` or `refundId` by default'),
  status: maybe('The column of the outcome; `status` by default'),
  utr: maybe('The column of the bank’s own reference; `utr` by default'),
  reason: maybe('The column that says why; `reason` by default'),
  amount: maybe('The column of the amount; `amount` by default. Where the file has it, it must fit'),
  paid: maybe('Words of payouts that were paid, separated by commas'),
  refunded: maybe('Words of refunds that were made'),
  failed: maybe('Words of what could not be made'),
  returned: maybe('Words of payouts whose money came back'),
}
type ResponseQuery = Readonly<Partial<Record<keyof typeof responseQuery, string>>>

interface Sent {
  readonly params: { readonly kind: string }
  readonly query: ResponseQuery
  readonly rawBody: Buffer
}

/** Reads a file of the bank's responses. */
async function readFile(services: Services, { params: { kind }, query: wanted, rawBody }: Sent) {
  const of = KINDS[kind]!
  const { id = `${of.name}Id`, status = 'status', utr = 'utr', reason = 'reason', amount = 'amount' } = wanted
  const format = formatOf({ id, status, utr, reason, amount })
  const words = { ...usualWords(of), ...wanted }
  const days = await readingDays(services, services.clock)
  return { of, read: await refusingFile(() => readResponses(of, fileOf(rawBody), { words, format, days })) }
}

/** What became of a file, or would: what needs a look first. */
async function toWire(
  { lines, problems, unreadable }: Awaited<ReturnType<typeof readFile>>['read'],
  found: AsyncIterable<ResponseResult>,
) {
  const [open, done]: [ResponseResult[], ResponseResult[]] = [[], []]
  for await (const result of found) (result.isDone ? done : open).push(result)
  const wire = {
    lines,
    unreadable,
    results: [...open, ...done].slice(0, LISTED_MAX),
    done: done.length,
    problems: problemsToWire(problems),
  }
  return { body: JSON.stringify(wire), open: open.length }
}

export const readBankResponses = query({
  ...ofFinance,
  ...fileBody,
  id: 'console.readBankResponses',
  method: 'POST',
  path: `${PATH}/responses/read`,
  summary: 'Read what the bank says of a file, and record nothing',
  safe: true,
  params: kindParam,
  query: closed(responseQuery),
  result: ResponsesRecord,
  errors: ['validation_failed'],
  mount(services) {
    return async (input) => {
      const { of, read } = await readFile(services, input)
      const { body } = await toWire(read, previewed(of, services.database, read))
      return { body }
    }
  },
})

export const importBankResponses = query({
  ...ofFinance,
  ...fileBody,
  id: 'console.importBankResponses',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/responses`,
  summary: 'Record what the bank says of a file',
  description:
    'Line by line; what cannot be recorded stands in the list. A failure above the limit of APPROVAL_ABOVE_RUPEES waits for a second person. With lines that cannot be read nothing is recorded unless `onlyReadable`. A repeat changes nothing.',
  params: kindParam,
  query: closed({
    ...responseQuery,
    ...namedFile,
    onlyReadable: oneOf(['true', 'false'], 'Whether to record the readable lines although others are not'),
  }),
  result: ResponsesRecord,
  errors: ['validation_failed', ...STEP_FAILURES],
  mount(services) {
    return async (input) => {
      const { caller, params, query: wanted, requestId } = input
      const { read } = await readFile(services, input)
      if (read.unreadable > 0 && wanted.onlyReadable !== 'true')
        failFile(`${read.unreadable} lines of the file cannot be read`)
      const by = { actor: actorOf(caller), requestId }
      const { body, open } = await toWire(read, recorded(STEPS[params.kind]!, services, read, by))
      await keepBody(services, input, {
        kind: params.kind as 'payouts' | 'refunds',
        lines: read.lines,
        unfitting: open,
        amountPaise: null,
      })
      return { body }
    }
  },
})
