import { fail } from '@svc/contract/errors'
import { closeDispute } from '@svc/core/payments/disputes/close-dispute'
import { DisputeRecord, disputeToWire } from '@svc/core/payments/disputes/dispute'
import { EVIDENCE_OF, type Evidence, EvidenceRecord } from '@svc/core/payments/disputes/evidence'
import {
  evidenceOfDispute,
  filesFor,
  retryEvidence,
  sendInRun,
} from '@svc/core/payments/disputes/evidence-sending'
import {
  codeOfDisputed,
  disputesOfShop,
  findDispute,
  paymentsOfPayer,
} from '@svc/core/payments/disputes/find-dispute'
import { EVIDENCE_REQUEST_MAX, requestEvidence } from '@svc/core/payments/disputes/request-evidence'
import { RECEIPT, sendEvidence } from '@svc/core/payments/disputes/send-evidence'
import { followedNotice } from '@svc/core/rails/find-notice'
import { required } from '@svc/kernel/invariant'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import type { Tx } from '@svc/platform/db/database'
import { zip } from '@svc/platform/zip'
import { ApprovalRecord, wireOrWait } from '@svc/server/approvals/approval-record'
import { FreeText } from '@svc/server/http/fields'
import { query, type Services, streamingQuery } from '@svc/server/http/operation'
import { fieldsOf, findRow, listOf, toRecord } from '@svc/server/http/resource'
import {
  AttachmentParams,
  downloaded,
  fileReply,
  readAttachment,
  readEvidence,
} from '@svc/server/payments/dispute-evidence'
import { dispute, type ListedDispute } from '@svc/server/payments/disputes'
import { type ListedPayment, payment } from '@svc/server/payments/payment-resource'
import { Type } from 'typebox'
import { actorOf, asOperator, auditOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  maybe,
  maybeInstant,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'
import { HistoryEntry, type HistoryItem, historyItemToWire, readHistory } from '../records/history.ts'
import { payoutOf } from './payout-record.ts'

const TAG = 'Payments'
const PATH = `${CONSOLE_API}/disputes`
export const ONE = `${PATH}/:disputeId`
export const WAITS = 'Above the limit of APPROVAL_ABOVE_RUPEES it waits for a second person: 202.'
const ALL = { reader: 'operator' } as const
const toWire = toRecord<ListedDispute>(dispute, 'operator')
const paymentToWire = toRecord<ListedPayment>(payment, 'operator')

export const listDisputesInConsole = listOf<ListedDispute>(dispute, {
  ...consoleOperation,
  id: 'console.listDisputes',
  path: PATH,
  tag: TAG,
  summary: 'List disputes of all merchants',
  permission: 'view',
})

const DAYS_SHOWN = 90
const DisputeDetail = record('DisputeDetail', {
  ...fieldsOf(dispute, 'operator'),
  payment: Type.Object(fieldsOf(payment, 'operator'), {
    title: 'DisputedPayment',
    additionalProperties: false,
  }),
  qrCode: Type.Optional(closed({ id: text(), name: text('Its id where it has none') })),
  payoutId: maybe('The payout that paid the payment, unless that one failed or was cancelled'),
  takenFromPayoutId: maybe('The payout that deducts the dispute'),
  held: rupeesText,
  advanced: text('The part beyond what was payable to the merchant, in rupees with two decimals'),
  sendsBy: Type.Enum(['call', 'file'], {
    description: '`call`: the service sends evidence to the bank by itself. `file`: an operator sends it',
  }),
  submissions: Type.Array(
    record('SubmittedEvidence', {
      ...EvidenceRecord.properties,
      sentBy: maybe('The run of the file in which it went'),
      attempts: Type.Integer({ description: 'Calls of the bank' }),
      failure: maybe('Why the bank did not take it at the last attempt'),
      nextAttemptOn: maybeInstant,
    }),
    { description: 'Oldest first' },
  ),
  ofMerchant: closed({
    days: Type.Integer({ description: 'Of so many days' }),
    disputes: Type.Integer(),
    decided: Type.Integer(),
    won: Type.Integer(),
  }),
  ofPayer: Type.Optional(
    closed({
      days: Type.Integer({ description: 'Of so many days' }),
      payments: Type.Integer({
        description: 'Other payments that the merchant accepted from the address of the payer',
      }),
      amount: rupeesText,
      refunded: rupeesText,
      disputes: Type.Integer({ description: 'How many of them were disputed' }),
    }),
  ),
  history: Type.Array(HistoryEntry, { description: 'Oldest first' }),
})

/** What is known of sending a submission, for operators alone. */
function sendingOf(each: Evidence, timeZone: string) {
  const { attempts, failure, nextAttemptAt, runId, sentAt } = each
  return {
    sentBy: runId ?? undefined,
    attempts,
    ...(sentAt === null && failure !== null && { failure, nextAttemptOn: rfc3339(nextAttemptAt, timeZone) }),
  }
}

function known(found: ListedDispute, submissions: readonly Evidence[]): HistoryItem[] {
  const { amountPaise, caseReference, closedAt, createdAt, disputeId, reason, status } = found
  const { evidenceRequest, evidenceRequestedAt } = found
  const fact = { source: 'dispute', id: disputeId } as const
  const amount = formatRupees(amountPaise)
  return [
    {
      ...fact,
      at: createdAt,
      what: 'dispute_opened',
      amount,
      detail: [`case ${caseReference}`, reason].filter(Boolean).join(', '),
    },
    ...submissions.flatMap(({ createdAt: at, receipt, runId, sentAt }) => [
      { ...fact, at, what: 'evidence_submitted' },
      ...(sentAt
        ? [
            {
              ...fact,
              at: sentAt,
              what: 'evidence_sent',
              detail: [runId ? 'in a file' : 'by call', receipt && `receipt ${receipt}`]
                .filter(Boolean)
                .join(', '),
            },
          ]
        : []),
    ]),
    ...(evidenceRequestedAt
      ? [
          {
            ...fact,
            at: evidenceRequestedAt,
            what: 'evidence_requested',
            detail: evidenceRequest ?? undefined,
          },
        ]
      : []),
    ...(closedAt ? [{ ...fact, at: closedAt, what: `dispute_${status.toLowerCase()}`, amount }] : []),
  ]
}

/** What the audit says of facts that the record has, too: it knows who did it. */
const SAME: Readonly<Record<string, string>> = {
  'portal.submitEvidence': 'evidence_submitted',
  'dispute.evidence_submitted': 'evidence_submitted',
  'dispute.evidence_sent': 'evidence_sent',
  'dispute.evidence_requested': 'evidence_requested',
}
/** Both are written in one transaction. */
const TOGETHER_MS = 5_000

/** Facts once, with who did it. */
function withActors(history: readonly HistoryItem[]): HistoryItem[] {
  const apart = (one: HistoryItem, other: HistoryItem) => Math.abs(one.at.getTime() - other.at.getTime())
  const entriesOf = (fact: HistoryItem) =>
    history
      .filter(({ source, what }) => source === 'audit' && SAME[what] === fact.what)
      .filter((entry) => apart(entry, fact) <= TOGETHER_MS)
      .toSorted((a, b) => apart(a, fact) - apart(b, fact))
  const facts = history.filter(({ source }) => source === 'dispute')
  const known = new Set(facts.flatMap(entriesOf))
  return history
    .filter((each) => !known.has(each))
    .map((each) => (each.source === 'dispute' ? { ...each, actor: entriesOf(each)[0]?.actor } : each))
}

async function readDispute({ config }: Services, tx: Tx, disputeId: string) {
  const timeZone = config.BUSINESS_TIME_ZONE
  const found = (await findRow<ListedDispute>(tx, dispute, ALL, disputeId)) ?? fail('dispute_not_found')
  const { merchantId, paymentId } = found
  const paid = required(
    await findRow<ListedPayment>(tx, payment, ALL, paymentId),
    'a dispute has its payment',
  )
  const submissions = await tx.query(EVIDENCE_OF, [[merchantId], [disputeId]])
  const shown = await readEvidence(tx, merchantId, disputeId, timeZone)
  const shop = await disputesOfShop(tx, merchantId, DAYS_SHOWN)
  const { payerVpa } = paid
  const payer =
    payerVpa === null ? undefined : await paymentsOfPayer(tx, { merchantId, paymentId, payerVpa }, DAYS_SHOWN)
  const history = await readHistory(tx, {
    tenantId: merchantId,
    objectIds: [disputeId],
    known: known(found, submissions),
  })
  const isHeld = found.status === 'OPEN' || found.status === 'EVIDENCE_SUBMITTED'
  return {
    ...toWire(found, timeZone),
    payment: paymentToWire(paid, timeZone),
    qrCode: await codeOfDisputed(tx, merchantId, paid.qrCodeId),
    payoutId: await payoutOf(tx, merchantId, paymentId, 'payment'),
    takenFromPayoutId: await payoutOf(tx, merchantId, disputeId, 'dispute'),
    held: formatRupees(isHeld ? found.amountPaise : 0n),
    advanced: formatRupees(found.advancedPaise),
    sendsBy: config.DISPUTE_EVIDENCE_URL === undefined ? 'file' : 'call',
    submissions: shown.map((each, place) => ({ ...each, ...sendingOf(submissions[place]!, timeZone) })),
    ofMerchant: {
      days: DAYS_SHOWN,
      disputes: Number(shop.disputed),
      decided: Number(shop.decided),
      won: Number(shop.won),
    },
    ofPayer: payer && {
      days: DAYS_SHOWN,
      payments: Number(payer.payments),
      amount: formatRupees(payer.amountPaise),
      refunded: formatRupees(payer.refundedPaise),
      disputes: Number(payer.disputes),
    },
    history: withActors(history).map((each) => historyItemToWire(each, timeZone)),
  }
}

export const showDispute = query({
  ...consoleOperation,
  id: 'console.showDispute',
  method: 'GET',
  path: ONE,
  tag: TAG,
  summary: 'Show dispute with its evidence and everything that happened to it',
  permission: 'view',
  params: idParam('disputeId'),
  result: DisputeDetail,
  errors: ['dispute_not_found'],
  mount:
    (services) =>
    async ({ params: { disputeId } }) => ({
      body: JSON.stringify(
        await services.database.operate((tx) => readDispute(services, tx, disputeId), 'repeatable read'),
      ),
    }),
})

export const merchantOf = async (
  { params }: { readonly params: { readonly disputeId: string } },
  { database }: Services,
): Promise<string> =>
  ((await database.operate((tx) => findDispute(tx, params.disputeId))) ?? fail('dispute_not_found'))
    .merchantId

export const downloadAttachmentInConsole = streamingQuery({
  ...consoleOperation,
  id: 'console.downloadAttachment',
  method: 'GET',
  path: `${ONE}/attachments/:attachmentId`,
  tag: TAG,
  summary: 'Download attachment',
  permission: 'contest',
  params: AttachmentParams,
  ...downloaded,
  mount: (services) => async (input) => {
    const { params } = input
    const file = await asOperator(services, input, async (tx) => {
      const found = await readAttachment(tx, services.keyring, params)
      const { attachmentId: target, merchantId: tenantId } = found
      recordAudit(tx, [{ action: 'attachment.downloaded', target, tenantId }])
      return found
    })
    return fileReply(file.content, file.name ?? file.attachmentId)
  },
})

export const downloadEvidence = streamingQuery({
  ...consoleOperation,
  id: 'console.downloadEvidence',
  method: 'GET',
  path: `${ONE}/evidence.zip`,
  tag: TAG,
  summary: 'Download what was submitted, as the bank gets it in a file',
  description: 'A ZIP archive: each submission with its attachments. Files that are erased are left out.',
  permission: 'contest',
  params: idParam('disputeId'),
  result: Type.String({ format: 'binary', description: 'A ZIP archive' }),
  produces: 'application/octet-stream',
  errors: ['dispute_not_found'],
  mount: (services) => async (input) => {
    const { disputeId } = input.params
    const { files, name, now } = await asOperator(services, input, async (tx) => {
      const found = (await findDispute(tx, disputeId)) ?? fail('dispute_not_found')
      const { merchantId: tenantId } = found
      const files = await filesFor(services, tx, await evidenceOfDispute(tx, disputeId))
      recordAudit(tx, [{ action: 'evidence.downloaded', target: disputeId, tenantId }])
      return { files, name: `evidence-${found.caseReference}.zip`, now: services.clock.of(tenantId).now() }
    })
    return fileReply(zip(files, new Date(now)), name)
  },
})

export const sendEvidenceInConsole = query({
  ...consoleOperation,
  id: 'console.sendEvidence',
  method: 'POST',
  path: `${ONE}/send-evidence`,
  tag: TAG,
  summary: 'Send evidence to the bank',
  description:
    'Where evidence goes in files: what waits is marked as sent, once; download it then. Where the service calls the bank: what failed is tried again now. A repeat changes nothing.',
  permission: 'contest',
  params: idParam('disputeId'),
  result: DisputeRecord,
  errors: ['dispute_not_found'],
  mount: (services) => {
    const { config, database } = services
    return async (input) => {
      const { disputeId } = input.params
      const { caller, requestId } = input
      if ((await database.operate((tx) => findDispute(tx, disputeId))) === undefined)
        fail('dispute_not_found')
      if (config.DISPUTE_EVIDENCE_URL === undefined)
        await sendInRun(services, disputeId, { actor: actorOf(caller), requestId })
      else await asOperator(services, input, (tx) => retryEvidence(tx, disputeId))
      const now = (await database.operate((tx) => findDispute(tx, disputeId))) ?? fail('dispute_not_found')
      return { body: JSON.stringify(disputeToWire(now, config.BUSINESS_TIME_ZONE)) }
    }
  },
})

export const recordReceipt = query({
  ...consoleOperation,
  id: 'console.recordEvidenceReceipt',
  method: 'POST',
  path: `${ONE}/receipt`,
  tag: TAG,
  summary: 'Record the receipt that the bank gave for evidence',
  description: 'Of evidence that was sent and has none yet. A receipt stays: a repeat changes nothing.',
  permission: 'contest',
  params: idParam('disputeId'),
  body: closed({
    receipt: Type.String({
      pattern: RECEIPT,
      'x-rule': 'must have 1 to 100 characters of ASCII',
      description: 'By which the bank or the network names what it received',
    }),
  }),
  result: DisputeRecord,
  errors: ['dispute_not_found', 'evidence_not_sent'],
  mount: (services) => {
    const { run } = services.commands.open(sendEvidence)
    return async (input) => {
      const { disputeId } = input.params
      const { receipt } = input.body
      const merchantId = await merchantOf(input, services)
      const entry = { action: 'dispute.receipt_recorded', target: disputeId, details: { receipt } }
      const done = await run(
        { merchantId, disputeId, sending: { receipt } },
        auditOf(merchantId, input, entry),
      )
      return { body: JSON.stringify(disputeToWire(done.dispute, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

export const requestEvidenceInConsole = query({
  ...consoleOperation,
  id: 'console.requestEvidence',
  method: 'POST',
  path: `${ONE}/evidence-request`,
  tag: TAG,
  summary: 'Ask the merchant for more evidence',
  description:
    'The merchant reads it in the portal, and gets the event `dispute.evidence_requested`. The same again, before more is submitted, changes nothing; another text takes its place.',
  permission: 'contest',
  params: idParam('disputeId'),
  body: closed({
    request: FreeText(EVIDENCE_REQUEST_MAX, 'What is missing, as the merchant reads it'),
  }),
  result: DisputeRecord,
  errors: ['dispute_not_found', 'dispute_closed'],
  mount: (services) => {
    const { run } = services.commands.open(requestEvidence)
    return async (input) => {
      const { disputeId } = input.params
      const request = input.body.request.trim()
      const merchantId = await merchantOf(input, services)
      const done = await run(
        { merchantId, disputeId, request },
        auditOf(merchantId, input, {
          action: 'dispute.evidence_requested',
          target: disputeId,
        }),
      )
      return { body: JSON.stringify(disputeToWire(done.dispute, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

export const closeDisputeByOperator = query({
  ...consoleOperation,
  id: 'console.closeDispute',
  stepUp: true,
  method: 'POST',
  path: `${ONE}/close`,
  tag: TAG,
  summary: 'Record what the network decided of a dispute',
  description: `Where no notice says so, or one in quarantine that an operator has read. A dispute that was won is payable to the merchant again, one that was lost is the payer’s. ${WAITS} Unless the notice itself states the outcome; of one that was won, with its amount.`,
  permission: 'finance',
  params: idParam('disputeId'),
  body: closed({
    outcome: Type.Enum(['WON', 'LOST'], { description: 'For or against the merchant' }),
    noticeId: Type.Optional(Type.String({ description: 'The notice in quarantine that says so' })),
  }),
  result: DisputeRecord,
  accepted: ApprovalRecord,
  errors: [...closeDispute.approval.failures, 'notice_not_found', 'approval_open'],
  mount(services) {
    const { commands, config, database } = services
    const { run } = commands.open(closeDispute)
    return async (input) => {
      const { disputeId } = input.params
      const { outcome, noticeId } = input.body
      const actor = actorOf(input.caller)
      const [found, assigns] = await database.operate(async (tx) => [
        await findDispute(tx, disputeId),
        noticeId === undefined ? undefined : await followedNotice(tx, noticeId, actor, 'dispute_notice'),
      ])
      const { merchantId, paymentId } = found ?? fail('dispute_not_found')
      const audit = auditOf(merchantId, input, { action: 'dispute.closed', target: disputeId })
      const done = await run({ merchantId, disputeId, paymentId, outcome, assigns }, audit)
      return wireOrWait(done, config.BUSINESS_TIME_ZONE, (decided) =>
        disputeToWire(decided.dispute, config.BUSINESS_TIME_ZONE),
      )
    }
  },
})
