import { fail } from '@svc/contract/errors'
import { idFloor, idMaker } from '@svc/contract/id-kinds'
import { readingDays } from '@svc/core/bank-files/reading-days'
import { SETTLEMENT_FORMATS } from '@svc/core/bank-files/shipped-formats'
import { SETTLEMENT_RAILS, type SettlementRail, SettlementRecord } from '@svc/core/payments/settlements/batch'
import { paymentsInBooks, unsettledBetween } from '@svc/core/payments/settlements/differences'
import {
  type ImportedSettlement,
  importedSettlementToWire,
} from '@svc/core/payments/settlements/import-settlement'
import { reverseBatch } from '@svc/core/payments/settlements/reverse-batch'
import {
  importSettlementFile,
  previewSettlementFile,
  readSettlementFile,
  type SettlementFile,
} from '@svc/core/payments/settlements/settlement-file'
import { TakenBackRecord, takenBackToWire } from '@svc/core/payments/settlements/taken-back'
import { PLATFORM_TENANT } from '@svc/core/tenants/tenant'
import { canonicalReference } from '@svc/kernel/bank-reference'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { instantOfDay } from '@svc/kernel/time'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { query, type Services } from '@svc/server/http/operation'
import { findRow, listOf, showOf } from '@svc/server/http/resource'
import {
  type ListedSettlement,
  type ListedSettlementLine,
  openSettlementLine,
  settlement,
  settlementLine,
} from '@svc/server/payments/settlement-resource'
import { Type } from 'typebox'
import { actorOf, auditOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  maybe,
  oneOf,
  reasonText,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'
import { failFile, fileBody, fileOf, keepBody, namedFile, refusingFile } from './bank-file-body.ts'

const TAG = 'Settlements'
const PATH = `${CONSOLE_API}/settlements`
const PROBLEMS_SHOWN = 100
/** Of the payments of a file’s days that are not settled. */
const UNSETTLED_READ = 50_000
const DAY_MINUTES = 24 * 60

const existing = () => fail('settlement_not_found')

export const listSettlementsInConsole = listOf<ListedSettlement>(settlement, {
  ...consoleOperation,
  id: 'console.listSettlements',
  path: PATH,
  tag: TAG,
  summary: 'List transfers of the bank and the card network',
  permission: 'view',
})

export const showSettlementInConsole = showOf<ListedSettlement>(settlement, {
  ...consoleOperation,
  id: 'console.showSettlement',
  path: `${PATH}/:batchId`,
  tag: TAG,
  summary: 'Show a transfer of the bank or the card network',
  permission: 'view',
  params: idParam('batchId'),
  errors: ['settlement_not_found'],
  notFound: existing,
})

export const listSettlementLinesInConsole = listOf<ListedSettlementLine>(settlementLine, {
  ...consoleOperation,
  id: 'console.listSettlementLines',
  path: `${PATH}/:batchId/lines`,
  tag: TAG,
  summary: 'List the lines of a transfer',
  permission: 'view',
  params: idParam('batchId'),
  errors: ['settlement_not_found'],
  within: async (tx, scope, { batchId = '' }) => {
    if (!(await findRow<ListedSettlement>(tx, settlement, scope, batchId))) existing()
  },
})

export const listOpenSettlementLinesInConsole = listOf<ListedSettlementLine>(openSettlementLine, {
  ...consoleOperation,
  id: 'console.listOpenSettlementLines',
  path: `${CONSOLE_API}/open-settlement-lines`,
  tag: TAG,
  summary: 'List lines of all transfers that do not fit',
  permission: 'view',
})

const SettlementImportRecord = record('SettlementImport', {
  fileId: text(),
  lines: Type.Integer(),
  matched: Type.Integer({ description: 'Lines of payments that fit' }),
  matchedAmount: rupeesText,
  differing: Type.Integer({ description: 'Lines whose payment has another amount' }),
  unknown: Type.Integer({ description: 'Lines that fit nothing' }),
  repeated: Type.Integer({ description: 'Lines that were recorded before' }),
  conflicting: Type.Integer({ description: 'Lines that were recorded before with another amount' }),
  skipped: Type.Integer({ description: 'Totals, blank lines and repeated headings' }),
  unreadable: Type.Integer(),
  batches: Type.Array(closed(SettlementRecord.properties), { description: 'The transfers of the file' }),
  waiting: Type.Array(closed({ batchUtr: text(), approvalId: text(), amount: rupeesText }), {
    description:
      'Transfers that move more than one person may enter beyond what is here already: charges, and lines that fit nothing. Another operator approves each; what a transfer has beyond 5,000 lines is imported again then',
  }),
  problems: Type.Array(closed({ line: Type.Integer(), column: text(), reason: text() }), {
    description: 'Why lines cannot be read, at most 100',
  }),
  conflictingLines: Type.Array(
    closed({ line: Type.Integer(), kind: text(), reference: text(), amount: rupeesText }),
    { description: 'At most 100' },
  ),
  unfittingLines: Type.Array(
    record('UnfittingLine', {
      line: Type.Optional(Type.Integer({ description: 'Where it stands in the file, of payments' })),
      batchUtr: text(),
      kind: text(),
      reference: text(),
      amount: rupeesText,
      differs: Type.Boolean({ description: 'What it is of is here, with another amount' }),
      paymentId: maybe('The payment that has another amount'),
      booksAmount: maybe('Rupees with two decimals: what that payment amounts to'),
      merchantName: maybe('Whose it is'),
    }),
    { description: 'At most 100' },
  ),
  journals: Type.Integer({ description: 'How many journals are entered' }),
  missing: Type.Optional(
    closed({
      count: Type.Integer(),
      amount: rupeesText,
      payments: Type.Array(
        record('MissingPayment', {
          paymentId: text(),
          utr: text(),
          merchantName: text(),
          amount: rupeesText,
        }),
        { description: 'At most 100' },
      ),
    }),
  ),
})

/** What became of a file, or would, beside what the books have. */
async function imported({ database }: Services, of: ImportedSettlement): Promise<object> {
  const { conflicting, journals, unfitting } = of.done
  const { problems, ...wire } = importedSettlementToWire(of)
  const ids = unfitting.flatMap(({ paymentId }) => paymentId ?? [])
  const known = new Map(
    (await database.operate((tx) => paymentsInBooks(tx, ids))).map((payment) => [payment.paymentId, payment]),
  )
  return {
    ...wire,
    journals,
    problems: problems.slice(0, PROBLEMS_SHOWN),
    conflictingLines: conflicting.map(({ line, kind, reference, amountPaise }) => ({
      line,
      kind,
      reference: reference ?? '',
      amount: formatRupees(amountPaise),
    })),
    unfittingLines: unfitting.map(({ amountPaise, line, paymentId, reference, ...rest }) => {
      const payment = paymentId === null ? undefined : known.get(paymentId)
      return {
        ...rest,
        line: line ?? undefined,
        reference: reference ?? '',
        amount: formatRupees(amountPaise),
        paymentId: payment?.paymentId,
        booksAmount: payment && formatRupees(payment.amountPaise),
        merchantName: payment?.merchantName,
      }
    }),
  }
}

/** Payments of the days of the file that the bank has not settled, and that are not in it. */
async function missingFrom({ config, database }: Services, { read, transfers }: SettlementFile) {
  if (transfers.rail !== 'upi') return undefined
  const inFile = new Set<string>()
  let [first, last]: [string?, string?] = []
  for await (const { date, kind, reference } of read.rows()) {
    if (kind !== 'payment') continue
    if (reference) inFile.add(canonicalReference(reference))
    if (date === undefined) continue
    if (first === undefined || date < first) first = date
    if (last === undefined || date > last) last = date
  }
  if (first === undefined || last === undefined) return undefined
  const idAt = (day: string, after: number) =>
    idFloor('pay', instantOfDay(day, after, config.BUSINESS_TIME_ZONE))
  const found = await database.report((tx) =>
    unsettledBetween(tx, idAt(first, 0), idAt(last, DAY_MINUTES), UNSETTLED_READ),
  )
  const missing = found.filter(({ utr }) => !inFile.has(utr))
  return {
    count: missing.length,
    amount: formatRupees(missing.reduce((sum, { amountPaise }) => sum + amountPaise, 0n) as Paise),
    payments: missing
      .slice(0, PROBLEMS_SHOWN)
      .map(({ amountPaise, ...payment }) => ({ ...payment, amount: formatRupees(amountPaise) })),
  }
}

const FORMATS = Object.keys(SETTLEMENT_FORMATS)

interface Wanted {
  readonly rail?: string | undefined
  readonly format?: string | undefined
}

async function readFile(
  { clock, config, database }: Services,
  body: Buffer,
  { rail = 'upi', format = 'svc' }: Wanted,
) {
  const days = await readingDays({ config, database }, clock)
  const reading = { format: SETTLEMENT_FORMATS[format]!, rail: rail as SettlementRail, days }
  return refusingFile(() => readSettlementFile(fileOf(body), reading))
}

const fileQuery = {
  rail: oneOf([...SETTLEMENT_RAILS], 'Whose transfers they are; `upi` by default'),
  format: oneOf(FORMATS, 'How the file is written; `svc` by default'),
}

export const readSettlementInConsole = query({
  ...consoleOperation,
  ...fileBody,
  id: 'console.readSettlement',
  method: 'POST',
  path: `${PATH}/read`,
  tag: TAG,
  summary: 'Read a settlement file and record nothing',
  description: 'What importing the file would do: which lines fit, which do not, and which cannot be read.',
  permission: 'finance',
  safe: true,
  query: closed(fileQuery),
  result: SettlementImportRecord,
  errors: ['settlement_batch_differs', 'validation_failed'],
  mount(services) {
    const { clock, config, database, random } = services
    const tools = { clock, config, database, newId: idMaker(clock, random) }
    return async ({ query: wanted, rawBody }) => {
      const file = await readFile(services, rawBody, wanted)
      const read = await imported(services, await previewSettlementFile(tools, file))
      return { body: JSON.stringify({ ...read, missing: await missingFrom(services, file) }) }
    }
  },
})

export const importSettlementInConsole = query({
  ...consoleOperation,
  ...fileBody,
  id: 'console.importSettlement',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Import a settlement file',
  description:
    'The bank account moves by the net amount of each transfer; lines that fit are settled, others wait until they do. With lines that cannot be read nothing is recorded unless `onlyReadable`. A transfer whose charges and lines that fit nothing come to more than the limit of APPROVAL_ABOVE_RUPEES waits for a second person. A repeat changes nothing.',
  permission: 'finance',
  stepUp: true,
  query: closed({
    ...fileQuery,
    ...namedFile,
    onlyReadable: oneOf(['true', 'false'], 'Whether to record the readable lines although others are not'),
  }),
  result: SettlementImportRecord,
  errors: ['settlement_batch_differs', 'validation_failed', 'approval_open'],
  mount(services) {
    return async (input) => {
      const { caller, query: wanted, rawBody, requestId } = input
      const file = await readFile(services, rawBody, wanted)
      const { unreadable } = file.read
      if (unreadable > 0 && wanted.onlyReadable !== 'true')
        failFile(`${unreadable} lines of the file cannot be read`)
      const done = await importSettlementFile(services, file, { actor: actorOf(caller), requestId })
      const { lines, differing, unknown, conflicting, batches } = done.done
      await keepBody(services, input, {
        kind: 'settlement',
        lines,
        unfitting: differing + unknown + conflicting.length,
        amountPaise: batches.reduce((sum, of) => sum + (of.netPaise ?? of.linesPaise), 0n) as Paise,
      })
      return { body: JSON.stringify(await imported(services, done)) }
    }
  },
})

export const reverseSettlementInConsole = query({
  ...consoleOperation,
  id: 'console.reverseSettlement',
  stepUp: true,
  method: 'POST',
  path: `${PATH}/:batchId/reverse`,
  tag: TAG,
  summary: 'Take back a transfer that was recorded by mistake',
  description:
    'As a whole, as long as no bank statement shows it: what it has moved is entered the other way round today, its lines are gone, and merchants of its payments are notified. It can be imported again. A repeat changes nothing. Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202.',
  permission: 'finance',
  params: idParam('batchId'),
  body: closed({ reason: reasonText('Why; it is in the journals') }),
  result: record('ReversedSettlement', TakenBackRecord.properties),
  accepted: ApprovalRecord,
  errors: [...reverseBatch.approval.failures, 'approval_open'],
  mount({ commands, config }) {
    const { run } = commands.open(reverseBatch)
    return async (input) => {
      const { batchId } = input.params
      const { reason } = input.body
      const entry = { action: 'settlement_batch.reversed', target: batchId, details: { reason } }
      const reversed = await run({ batchId, reason }, auditOf(PLATFORM_TENANT, input, entry))
      return wireOrWait(reversed, config.BUSINESS_TIME_ZONE, ({ batch, isRepeat, whole }) =>
        takenBackToWire(batch, whole, isRepeat),
      )
    }
  },
})
