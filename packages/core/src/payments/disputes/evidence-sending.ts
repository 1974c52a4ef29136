import { newId } from '@svc/contract/id-kinds'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { AuditedBy, Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import type { CoreServices } from '@svc/platform/services'
import type { ZipFile } from '@svc/platform/zip'
import { CONTENTS_OF, disputeEvidence, type Evidence, openAttachment } from './evidence.ts'
import { sendEvidence } from './send-evidence.ts'

/** What is sent of a submission, besides its attachments. */
export interface Submission extends Evidence {
  readonly caseReference: string
  readonly utr: string
  readonly amountPaise: Paise
  readonly evidenceDueAt: Date
}
/** Its columns, behind those of the submission. */
const OF_CASE = `d.case_reference as "caseReference", p.utr, d.amount_paise as "amountPaise",
     d.evidence_due_at as "evidenceDueAt"`
const JOINS = `join disputes d on d.merchant_id = v.merchant_id and d.dispute_id = v.dispute_id
     join payments p on p.merchant_id = d.merchant_id and p.payment_id = d.payment_id`

/** Claims what is due for one attempt: another process may claim it again in `$1` milliseconds. */
export const CLAIM_EVIDENCE = statement<Submission>(
  'dispute_evidence_claim',
  `with due as materialized (
     select w.merchant_id, w.evidence_id from dispute_evidence w
       join disputes d on d.merchant_id = w.merchant_id and d.dispute_id = w.dispute_id
     where w.sent_at is null and w.next_attempt_at <= clock_timestamp() and d.status = 'EVIDENCE_SUBMITTED'
     order by w.next_attempt_at limit $2 for update of w skip locked),
   claimed as (
     update dispute_evidence v set attempts = v.attempts + 1,
       next_attempt_at = clock_timestamp() + $1 * interval '1 millisecond'
     from due where v.merchant_id = due.merchant_id and v.evidence_id = due.evidence_id
     returning v.*)
   select ${disputeEvidence.columns}, ${OF_CASE} from claimed v ${JOINS}`,
)
/** After an attempt that failed; a claim that ran out meanwhile is of another process. */
export const EVIDENCE_FAILED = statement(
  'dispute_evidence_failed',
  `update dispute_evidence v set failure = $3,
     next_attempt_at = clock_timestamp() + $4 * interval '1 millisecond'
   where v.merchant_id = $1 and v.evidence_id = $2 and v.attempts = $5 and v.sent_at is null`,
)
/** Not sent: of one dispute, or of all that are undecided, in order. */
const UNSENT = statement<Submission>(
  'dispute_evidence_waiting',
  `select ${disputeEvidence.columns}, ${OF_CASE} from dispute_evidence v ${JOINS}
   where v.sent_at is null and d.status = 'EVIDENCE_SUBMITTED' and ($1::text is null or d.dispute_id = $1)
   order by v.evidence_id limit 1000`,
)
const OF_RUN = statement<Submission>(
  'dispute_evidence_of_a_run',
  `select ${disputeEvidence.columns}, ${OF_CASE} from dispute_evidence v ${JOINS} where v.run_id = $1 order by v.evidence_id`,
)
const AT_ONCE_NOW = statement(
  'dispute_evidence_at_once',
  `update dispute_evidence v set next_attempt_at = clock_timestamp()
   where v.dispute_id = $1 and v.sent_at is null and v.next_attempt_at > clock_timestamp()
     and v.failure is not null`,
)

const OF_ONE = statement<Submission>(
  'dispute_evidence_of_one',
  `select ${disputeEvidence.columns}, ${OF_CASE} from dispute_evidence v ${JOINS} where v.dispute_id = $1
   order by v.evidence_id`,
)

export const evidenceOfDispute = (tx: Tx, disputeId: string) => tx.query(OF_ONE, [disputeId])
export const unsentEvidence = (tx: Tx, disputeId: string | null) => tx.query(UNSENT, [disputeId])
export const evidenceOfRun = (tx: Tx, runId: string) => tx.query(OF_RUN, [runId])
/** What failed is tried again now. */
export const retryEvidence = (tx: Tx, disputeId: string) => tx.query(AT_ONCE_NOW, [disputeId])

/** A submission with its attachments, as the bank gets it by a call or in a file. */
export async function submissionFiles(
  { keyring, config }: Pick<CoreServices, 'keyring' | 'config'>,
  tx: Tx,
  submission: Submission,
) {
  const keys = [[submission.merchantId], [submission.evidenceId]]
  const files = (await tx.query(CONTENTS_OF, keys)).map((each) => openAttachment(keyring, each))
  const timeZone = config.BUSINESS_TIME_ZONE
  return {
    files,
    facts: {
      evidenceId: submission.evidenceId,
      caseReference: submission.caseReference,
      utr: submission.utr,
      amount: formatRupees(submission.amountPaise),
      evidence: submission.evidence,
      submittedOn: rfc3339(submission.createdAt, timeZone),
      respondBy: rfc3339(submission.evidenceDueAt, timeZone),
    },
  }
}

/** The name of a file in what the bank gets: in one sending no two are the same. */
export const fileName = (place: number, name: string | null): string => `${place + 1}-${name}`

/** Submissions as files for the bank, a folder each: what was submitted, and its attachments. */
export async function filesFor(
  services: Pick<CoreServices, 'keyring' | 'config'>,
  tx: Tx,
  submissions: readonly Submission[],
): Promise<ZipFile[]> {
  const all: ZipFile[] = []
  for (const submission of submissions) {
    const { facts, files } = await submissionFiles(services, tx, submission)
    const folder = `${facts.caseReference}/${facts.evidenceId}`
    const attachments = files.map(({ name }, place) => fileName(place, name))
    const about = Buffer.from(`${JSON.stringify({ ...facts, attachments }, undefined, 2)}\n`)
    all.push({ name: `${folder}/evidence.json`, content: about })
    for (const [place, { content }] of files.entries())
      all.push({ name: `${folder}/${attachments[place]}`, content, isCompressed: true })
  }
  return all
}

/**
 * Marks as sent, in a new run, what waits: of one dispute, or of all. Each is in one run, which can be made into a file
 * again; a run in which nothing is left names none.
 */
export async function sendInRun(
  services: Pick<CoreServices, 'commands' | 'database' | 'clock' | 'random'>,
  disputeId: string | null,
  audit: AuditedBy,
): Promise<{ runId: string; sent: number }> {
  const { clock, commands, database, random } = services
  const runId = newId('evr', clock.now(), random)
  const waiting = await database.operate((tx) => unsentEvidence(tx, disputeId))
  const { run } = commands.open(sendEvidence)
  const ofDisputes = new Map(waiting.map((each) => [each.disputeId, each.merchantId]))
  for (const [of, merchantId] of ofDisputes)
    await run(
      { merchantId, disputeId: of, sending: { runId } },
      { ...audit, action: 'dispute.evidence_sent', target: of, tenantId: merchantId, details: { runId } },
    )
  return { runId, sent: (await database.operate((tx) => evidenceOfRun(tx, runId))).length }
}
